import { describe, expect, it } from 'vitest';
import { createMessage } from '../testing/ingress-scene.ts';
import { countRepetition, createLoopGuard, type Repetition } from './limits.ts';

const AWAY = 'I am away until Monday and will answer then.';

describe('the number of identical messages from a sender', () => {
  const before: Repetition = { digest: 'a', messageId: '1', count: 3, at: 1_000 };
  it.each<[string, Repetition | undefined, { digest: string; messageId: string }, number, number]>([
    ['the first time', undefined, { digest: 'a', messageId: '2' }, 1_000, 1],
    ['again', before, { digest: 'a', messageId: '2' }, 61_000, 4],
    ['again after a pause', before, { digest: 'a', messageId: '2' }, 61_001, 1],
    ['something else', before, { digest: 'b', messageId: '2' }, 1_000, 1],
    ['the same message, delivered again', before, { digest: 'a', messageId: '1' }, 1_000, 3],
  ])('[F07] %s', (_case, known, said, now, count) => {
    expect(countRepetition(known, said, now).count).toBe(count);
  });
});

describe('the guard against automatic replies', () => {
  const say = (guard: ReturnType<typeof createLoopGuard>, text: string, times: number) =>
    Array.from({ length: times }, (_, n) => guard(createMessage({ text, messageId: `${n}` })));

  it('[F07] detects a sentence that arrives for the sixth time', () => {
    const heard = say(
      createLoopGuard(() => 0),
      AWAY,
      7,
    );
    expect(heard).toEqual([false, false, false, false, false, true, true]);
  });

  it('[F07] does not affect people who say "next" all day, or write the same text in several chats', () => {
    const guard = createLoopGuard(() => 0);
    expect(say(guard, 'next', 50)).not.toContain(true);
    const chats = Array.from({ length: 9 }, (_, n) =>
      createMessage({ text: AWAY, chat: { id: `${n}` } }),
    );
    expect(chats.map(guard)).not.toContain(true);
  });

  it('[F07] [U08] does not affect a person who asks the same question again', () => {
    const guard = createLoopGuard(() => 0);
    const again = Array.from({ length: 9 }, (_, n) =>
      createMessage({ text: AWAY, messageId: `${n}`, replaces: `${n - 1}` }),
    );
    expect(again.map(guard)).not.toContain(true);
  });

  it('[D07] remembers a bounded number of senders', () => {
    const guard = createLoopGuard(() => 0, 1);
    say(guard, AWAY, 5);
    guard(createMessage({ text: AWAY, chat: { id: 'other' } }));
    expect(guard(createMessage({ text: AWAY, messageId: '9' }))).toBe(false);
  });
});
