import type { ChatType, Rate } from '@parley/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPacer } from './pacer.ts';

const rates = {
  account: { burst: 3, everyMs: 100 },
  direct: { burst: 1, everyMs: 1_000 },
  group: { burst: 2, everyMs: 3_000 },
};

/** When each of so many parts went out, if the sender comes back exactly when told. */
function times(count: number, chatId: string, type: ChatType, pacer = createPacer(rates)) {
  let now = 0;
  return Array.from({ length: count }, () => {
    for (let wait = pacer.take(chatId, type, now); wait > 0; wait = pacer.take(chatId, type, now)) {
      now += wait;
    }
    return now;
  });
}

describe('pacing what is sent', () => {
  it.each([
    ['a direct chat', 'direct', [0, 1_000, 2_000]],
    ['a group', 'group', [0, 0, 3_000]],
    ['a channel, as a group', 'channel', [0, 0, 3_000]],
  ] as const)('[D05] lets as much into %s as its rate allows', (_, type, expected) => {
    expect(times(3, 'c', type)).toEqual(expected);
  });

  it('[D05] lets one chat wait and others go on', () => {
    const pacer = createPacer(rates);
    expect(pacer.take('slow', 'direct', 0)).toBe(0);
    expect(pacer.take('slow', 'direct', 1)).toBe(999);
    expect(pacer.take('other', 'direct', 1)).toBe(0);
  });

  it('[D05] keeps all chats together within the rate of the account', () => {
    const pacer = createPacer(rates);
    const waits = ['a', 'b', 'c', 'd'].map((chat) => pacer.take(chat, 'direct', 0));
    expect(waits).toEqual([0, 0, 0, 100]);
  });

  it('[D05] is silent as long as the platform asks the whole account to be', () => {
    const pacer = createPacer({});
    pacer.pause(0, 5_000);
    expect(pacer.take('a', 'direct', 1_000)).toBe(4_000);
    expect(pacer.take('a', 'direct', 5_000)).toBe(0);
  });

  it('[D05] knows no limit where none is declared', () => {
    const pacer = createPacer();
    expect(Array.from({ length: 50 }, () => pacer.take('a', 'group', 0))).toEqual(
      Array(50).fill(0),
    );
  });

  it('[D05] never sends more in any stretch of time than burst and rate together', () => {
    const rate: fc.Arbitrary<Rate> = fc.record({
      burst: fc.integer({ min: 1, max: 5 }),
      everyMs: fc.integer({ min: 1, max: 500 }),
    });
    fc.assert(
      fc.property(rate, fc.array(fc.nat({ max: 400 }), { maxLength: 60 }), (direct, gaps) => {
        const pacer = createPacer({ direct });
        let now = 0;
        const sent: number[] = [];
        for (const gap of gaps) {
          now += gap;
          if (pacer.take('c', 'direct', now) === 0) sent.push(now);
        }
        for (const [index, from] of sent.entries()) {
          for (const [count, to] of sent.slice(index).entries()) {
            expect(count + 1).toBeLessThanOrEqual(direct.burst + (to - from) / direct.everyMs);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
