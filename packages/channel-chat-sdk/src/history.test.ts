import type { Message } from 'chat';
import { describe, expect, it } from 'vitest';
import { findMatchingMessage, toComparableText } from './history.ts';

const own = (id: string, text: string, at = 1_000) =>
  ({ id, text, metadata: { dateSent: new Date(at), edited: false } }) as Message;
const part = {
  body: { text: '*Hello* <https://e.org|there>, :wave:', plain: 'Hello there (https://e.org), 👋' },
  route: { chatId: 'C' } as never,
};
const out = (messageId: string, at: number, chatId = 'C') => ({
  ...{ chatId, messageId, at, direction: 'out' as const },
});
const before = (known: readonly ReturnType<typeof out>[] = []) => ({ known, uncertainAt: null });

describe('finding the message that shows a message part', () => {
  it.each<[string, readonly Message[], ReturnType<typeof before>, string | undefined]>([
    ['has the same words', [own('1', 'Hi'), own('2', 'Hello there')], before(), '2'],
    ['is none with other words', [own('1', 'Hello you')], before(), undefined],
    [
      'is none that was known before',
      [own('1', 'Hello there'), own('2', 'Hello there')],
      before([out('1', 500)]),
      '2',
    ],
    [
      'may have the id of one in another chat',
      [own('1', 'Hello there')],
      before([out('1', 5, 'D')]),
      '1',
    ],
    [
      'is not older than what is known',
      [own('1', 'Hello there', 10)],
      before(Array.from({ length: 50 }, (_, n) => out(`o${n}`, 100 + n))),
      undefined,
    ],
  ])('[D04] %s', (_title, messages, known, expected) => {
    expect(findMatchingMessage(messages, part, known)).toBe(expected);
  });

  it('compares punctuation if the text contains no letters', () => {
    expect(toComparableText(' 👍 ')).toBe('👍');
    expect(toComparableText('*a* b_c 1!')).toBe('abc1');
  });
});
