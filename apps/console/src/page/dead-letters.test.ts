import type { OutputOf } from '@parley/gateway/operations';
import { describe, expect, it } from 'vitest';
import { isTruncated } from './dead-letters.tsx';

type ShownDeadLetter = OutputOf<'dead/list'>['letters'][number];

const COMMON = {
  ...{ id: 3, diedAt: 1, reason: 'blocked', settled: null },
  ...{ chat: 'telegram:5', conversationId: null },
};
const part = (text: string): ShownDeadLetter => ({
  ...COMMON,
  kind: 'refused',
  text,
  file: '',
  turnId: null,
  part: null,
  state: 'failed',
});
const turn = (count: number): ShownDeadLetter => ({
  ...COMMON,
  kind: 'unanswered',
  turnId: 't',
  count,
  messages: [{ from: 'Bo', text: 'hi', at: 5 }],
  steps: 0,
});

describe('dead letters on the page', () => {
  it.each<[string, ShownDeadLetter, boolean]>([
    ['a short text', part('hello'), false],
    ['a truncated text', part('long…'), true],
    ['all messages of a turn', turn(1), false],
    ['some messages of a turn', turn(4), true],
  ])('[D06] offers the full text only if the list truncates it: %s', (_case, letter, expected) => {
    expect(isTruncated(letter)).toBe(expected);
  });
});
