import type { ChatType, Rate } from '@parley/core';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPacer } from './pacer.ts';

const rates = {
  account: { burst: 3, everyMs: 100 },
  direct: { burst: 1, everyMs: 1_000 },
  group: { burst: 2, everyMs: 3_000 },
};

/** The times at which `count` parts are sent when the sender waits exactly as long as requested. */
function times(count: number, chatId: string, type: ChatType, pacer = createPacer(rates)) {
  let now = 0;
  return Array.from({ length: count }, () => {
    const chat = { chatId, chatType: type };
    for (let wait = pacer.take(chat, now); wait > 0; wait = pacer.take(chat, now)) now += wait;
    return now;
  });
}

describe('the pacing of sends', () => {
  it.each([
    ['a direct chat', 'direct', [0, 1_000, 2_000]],
    ['a group', 'group', [0, 0, 3_000]],
    ['a channel, as a group', 'channel', [0, 0, 3_000]],
  ] as const)('[D05] sends as much to %s as its rate allows', (_, type, expected) => {
    expect(times(3, 'c', type)).toEqual(expected);
  });

  it('[D05] delays one chat without delaying the others', () => {
    const pacer = createPacer(rates);
    expect(pacer.take({ chatId: 'slow' }, 0)).toBe(0);
    expect(pacer.take({ chatId: 'slow' }, 1)).toBe(999);
    expect(pacer.take({ chatId: 'other' }, 1)).toBe(0);
  });

  it('[D05] keeps all chats together within the account’s rate', () => {
    const pacer = createPacer(rates);
    const waits = ['a', 'b', 'c', 'd'].map((chat) => pacer.take({ chatId: chat }, 0));
    expect(waits).toEqual([0, 0, 0, 100]);
  });

  it('[D05] pauses all chats for as long as the platform requests for the entire account', () => {
    const pacer = createPacer({});
    pacer.pause(0, 5_000);
    expect(pacer.take({ chatId: 'a' }, 1_000)).toBe(4_000);
    expect(pacer.take({ chatId: 'a' }, 5_000)).toBe(0);
  });

  it('[D05] sends one part after a pause, and then continues at the declared rate', () => {
    const pacer = createPacer(rates);
    pacer.pause(0, 5_000);
    const waits = ['a', 'b', 'c'].map((chatId) => pacer.take({ chatId }, 5_000));
    expect(waits).toEqual([0, 100, 100]);
  });

  it('[D05] pauses only the chat that the platform limits, even without a declared rate', () => {
    for (const pacer of [createPacer({ ...rates, account: undefined }), createPacer({})]) {
      pacer.pause(0, 5_000, { chatId: 'a', chatType: 'group' });
      expect(pacer.take({ chatId: 'a', chatType: 'group' }, 1_000)).toBe(4_000);
      expect(pacer.take({ chatId: 'b', chatType: 'group' }, 1_000)).toBe(0);
      expect(pacer.take({ chatId: 'a', chatType: 'group' }, 5_000)).toBe(0);
    }
  });

  it('[D05] counts previews, and refuses one that could delay an answer', () => {
    const pacer = createPacer({ ...rates, direct: { burst: 3, everyMs: 1_000 } });
    const chat = { chatId: 'a' };
    expect([0, 0, 0].map((now) => pacer.takeSpare(chat, now))).toEqual([true, true, false]);
    expect(pacer.take(chat, 0)).toBe(0);
    expect(pacer.take(chat, 0)).toBeGreaterThan(0);
    expect(pacer.takeSpare({ chatId: 'b' }, 0)).toBe(false);
    expect(createPacer({ direct: { burst: 1, everyMs: 9 } }).takeSpare(chat, 0)).toBe(true);
  });

  it('[D05] does not apply a limit when the platform does not declare one', () => {
    const pacer = createPacer();
    expect(
      Array.from({ length: 50 }, () => pacer.take({ chatId: 'a', chatType: 'group' }, 0)),
    ).toEqual(Array(50).fill(0));
  });

  it('[D05] never sends more within any period than the burst and the rate permit', () => {
    const rate: fc.Arbitrary<Rate> = fc.record({
      burst: fc.integer({ min: 1, max: 5 }),
      everyMs: fc.integer({ min: 1, max: 500 }),
    });
    fc.assert(
      fc.property(rate, fc.array(fc.nat({ max: 400 }), { maxLength: 60 }), (direct, gaps) => {
        const pacer = createPacer({ direct });
        const c = { chatId: 'c' };
        let now = 0;
        const sent: number[] = [];
        for (const gap of gaps) {
          now += gap;
          const isSent = sent.length % 3 === 2 ? pacer.takeSpare(c, now) : pacer.take(c, now) === 0;
          if (isSent) sent.push(now);
        }
        for (const [index, from] of sent.entries()) {
          for (const [count, to] of sent.slice(index).entries()) {
            expect(count + 1).toBeLessThanOrEqual(direct.burst + (to - from) / direct.everyMs);
          }
        }
      }),
      toRunOptions(300),
    );
  });
});
