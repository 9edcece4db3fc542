import { InboundMessage } from '@parley/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPhraseRedactor } from './phrase-redactor.ts';

const MARK = '[forgotten]';
const without = (word: string, value: unknown) => createPhraseRedactor([word], MARK)(value);

const MESSAGE = {
  channel: 'telegram',
  account: 'default',
  messageId: '7',
  chat: { id: '42', type: 'direct', title: 'About herons' },
  sender: { id: '42', name: 'Heron Ann', isBot: false },
  text: 'I like herons',
  mentions: ['42'],
  addressed: true,
  sentAt: 0,
  variables: { 'heron note': 'a heron' },
};

describe('removing text', () => {
  it.each([
    ['heron', 'a Heron and a HERON', `a ${MARK} and a ${MARK}`],
    ['heron pie', 'heron\n  pie', MARK],
    ['heron pie', String.raw`{"a":"heron\npie"}`, `{"a":"${MARK}"}`],
    ['heron pie', 'text:\n| a heron\n| pie', `text:\n| a ${MARK}`],
    ['a heron pie', 'text:\n| a heron\n+ pie', `text:\n| ${MARK}`],
    ['say "hi" now', String.raw`{"a":"say \"hi\" now"}`, `{"a":"${MARK}"}`],
    ['a < b & c', 'if a &lt; b &amp; c', `if ${MARK}`],
    ['well-known (as x.y*z)', 'so well-known (as x.y*z)!', `so ${MARK}!`],
    ['绿茶', '我喜欢绿茶', `我喜欢${MARK}`],
    ['art', 'art in the party', `${MARK} in the party`],
    ['heron', 'heronries', `${MARK}ries`],
    ['茶', '绿茶', `绿${MARK}`],
  ])('[G15] removes "%s" from "%s"', (word, text, after) => {
    expect(without(word, text)).toBe(after);
  });

  it('[G15] changes every string in a value, and returns the same value if it does not contain a phrase', () => {
    expect(without('heron', MESSAGE)).toEqual({
      ...MESSAGE,
      chat: { ...MESSAGE.chat, title: `About ${MARK}s` },
      sender: { ...MESSAGE.sender, name: `${MARK} Ann` },
      text: `I like ${MARK}s`,
      variables: { [`${MARK} note`]: `a ${MARK}` },
    });
    expect(without('egret', MESSAGE)).toBe(MESSAGE);
  });

  it.each(['text', 'direct', 'telegram', 'default', '42', 'id', 'chat', 'sender', '7', 'type'])(
    '[G15] [D01] keeps a message readable after forgetting "%s"',
    (word) => {
      expect(InboundMessage.safeParse(without(word, MESSAGE)).success).toBe(true);
    },
  );

  it('[G15] does not change the tool name of a call', () => {
    const call = { id: 'read', name: 'read', arguments: '{"path":"read me"}' };
    expect(without('read', { calls: [call] })).toEqual({
      calls: [{ ...call, arguments: `{"path":"${MARK} me"}` }],
    });
  });

  it("[G15] keeps a button's label within its limit", () => {
    const label = 'heron '.repeat(10).trim();
    const after = JSON.stringify(without('heron', { label }));
    expect(after).not.toContain('heron');
    expect(after.length).toBeLessThanOrEqual(64 + '{"label":""}'.length);
  });

  it('[G15] removes random text without throwing', () => {
    const word = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(word, fc.string(), fc.string(), (secret, before, after) => {
        const text = `${before} ${secret} ${after}`;
        expect(createPhraseRedactor([secret], '')(text)).not.toBe(text);
      }),
    );
  });
});
