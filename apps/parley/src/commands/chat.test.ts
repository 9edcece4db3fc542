import { describe, expect, it } from 'vitest';
import type { ChatHistory } from '../running-gateway.ts';
import { answerTo } from './chat.ts';

const asked = (messageId: string, outcome: string | null): ChatHistory[number] => ({
  type: 'inbound',
  messageId,
  outcome,
});
const part = (turnId: string | null, text: string): ChatHistory[number] => ({
  type: 'part',
  partId: text,
  turnId,
  text,
});

describe('the answer to one message', () => {
  it.each<[string, ChatHistory, string | null]>([
    ['is not there before the message', [], null],
    ['is not there while its turn runs', [asked('m', null), part('t0', 'earlier')], null],
    [
      'is all parts of its turn',
      [asked('m', 'answered'), part('t', 'a'), part('t', 'b')],
      'a\n\nb',
    ],
    [
      'is not that of an earlier question',
      [asked('m', 'answered'), part('t0', 'old'), part('t', 'new')],
      'new',
    ],
    [
      'of a command is one part',
      [asked('m', 'command'), part('t0', 'old'), part(null, 'help')],
      'help',
    ],
    ['is empty when it was stopped', [asked('m', 'stopped')], ''],
    [
      'leaves out what was said before',
      [part('t0', 'old'), asked('m', 'answered'), part('t', 'a')],
      'a',
    ],
  ])('%s', (_what, history, answer) => {
    expect(answerTo(history, 'm')).toBe(answer);
  });
});
