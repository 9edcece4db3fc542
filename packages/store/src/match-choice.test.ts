import { InboundMessage } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { matchChoice } from './match-choice.ts';
import { isAnswerToQuestion } from './questions.ts';

const DRINKS = ['Green tea', 'Black tea', 'Coffee with milk'];
const SEND = ['Yes, send it', 'No, keep it', 'Change the text first'];

describe('a message that arrives while a question is open', () => {
  const question = { askedBy: 'telegram:1', askedAt: 5 };
  const said = (change: object) =>
    InboundMessage.parse({
      ...{ channel: 'telegram', account: 'default', messageId: '1', text: 'a picnic' },
      ...{ chat: { id: '1', type: 'direct' }, sender: { id: '1', name: 'Ann', isBot: false } },
      ...{ addressed: true, sentAt: 6, ...change },
    });

  it.each([
    [{}, true],
    [{ typed: '/new a picnic' }, false],
    [{ text: '/new' }, false],
    [{ text: '／new' }, false],
    [{ sender: { id: '2', name: 'Bo', isBot: false } }, false],
  ])('[G02] answers an open question with %j: %s', (change, expected) => {
    expect(isAnswerToQuestion(question, { message: said(change), receivedAt: 6 })).toBe(expected);
  });
});

describe('a typed answer to a multiple-choice question', () => {
  it.each<[string, readonly string[], string | null]>([
    ['2', DRINKS, 'Black tea'],
    ['2.', DRINKS, 'Black tea'],
    ['(2)', DRINKS, 'Black tea'],
    ['#3', DRINKS, 'Coffee with milk'],
    ['２', DRINKS, 'Black tea'],
    ['2️⃣', DRINKS, 'Black tea'],
    ['option 2 please', DRINKS, 'Black tea'],
    ['the second one', DRINKS, 'Black tea'],
    ['Das zweite, bitte.', DRINKS, 'Black tea'],
    ['1st', DRINKS, 'Green tea'],
    ['the last', DRINKS, 'Coffee with milk'],
    ['coffee', DRINKS, 'Coffee with milk'],
    ['I’d like coffee, please!', DRINKS, 'Coffee with milk'],
    ['GREEN TEA', DRINKS, 'Green tea'],
    ['„green tea“', DRINKS, 'Green tea'],
    ['Ich nehme black', DRINKS, 'Black tea'],
    ['yes', SEND, 'Yes, send it'],
    ['ja bitte', SEND, 'Yes, send it'],
    ['👎', SEND, 'No, keep it'],
    ['Да', ['Да, отправить', 'Нет'], 'Да, отправить'],
    ['1', ['10', '1', '5'], '1'],
    // The following answers are ambiguous or mean something else.
    ['tea', DRINKS, null],
    ['both teas', DRINKS, null],
    ['no coffee', DRINKS, null],
    ['not the second', DRINKS, null],
    ['black or green', DRINKS, null],
    ['coffee without milk', DRINKS, null],
    ['2 coffees', DRINKS, null],
    ['9', DRINKS, null],
    ['yes, but tomorrow', SEND, null],
    ['yes', DRINKS, null],
    ['Water', DRINKS, null],
    ['🙂', DRINKS, null],
  ])('[G02] matches %j among %j as %j', (text, choices, expected) => {
    expect(matchChoice(text, choices)).toBe(expected);
  });
});
