import { describe, expect, it } from 'vitest';
import {
  createFairQueue,
  createSenderPauses,
  type QueueLane,
  type QueueLimits,
} from './fair-queue.ts';

const never = new AbortController().signal;

/** Opens a queue and records the order in which senders were given a slot. */
function openQueue(limits: Partial<QueueLimits> = {}) {
  const queue = createFairQueue({ atOnce: 2, mostWaiting: 100, waitMs: 60_000, ...limits });
  const admitted: string[] = [];
  const leaves = new Map<string, () => void>();
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    admitted,
    async enter(sender: string, name = sender, lane: QueueLane = 'quick', signal = never) {
      const entering = queue.enter(sender, lane, signal).then((entry) => {
        if (entry.kind === 'refused') return entry.reason;
        admitted.push(name);
        leaves.set(name, entry.leave);
        return 'read';
      });
      await settled();
      return { entering };
    },
    async leave(name: string) {
      leaves.get(name)?.();
      await settled();
    },
  };
}

describe('the document queue', () => {
  it('[G19] alternates between senders, with one document from each at a time', async () => {
    const { enter, leave, admitted } = openQueue();
    for (const name of ['eve 1', 'eve 2', 'eve 3']) await enter('eve', name);
    expect(admitted).toEqual(['eve 1']);
    await enter('mallory', 'mallory 1');
    await enter('mallory', 'mallory 2');
    await enter('ada');
    expect(admitted).toEqual(['eve 1', 'mallory 1']);
    await leave('eve 1');
    await leave('mallory 1');
    expect(admitted.slice(2)).toEqual(['ada', 'eve 2']);
    await leave('ada');
    expect(admitted.slice(4)).toEqual(['mallory 2']);
    await leave('eve 2');
    expect(admitted.slice(5)).toEqual(['eve 3']);
  });

  it('[G19] reserves a slot for short documents while slow ones are waiting', async () => {
    const { enter, leave, admitted } = openQueue();
    for (const sender of ['eve', 'mallory', 'trudy']) await enter(sender, sender, 'slow');
    await enter('ada');
    expect(admitted).toEqual(['eve', 'ada']);
    await leave('ada');
    expect(admitted).toHaveLength(2);
    await leave('eve');
    expect(admitted).toEqual(['eve', 'ada', 'mallory']);
  });

  it('[D07] refuses a document that would wait too long or behind too many others, and drops one whose turn was stopped', async () => {
    const { enter, leave, admitted } = openQueue({ atOnce: 1, mostWaiting: 2, waitMs: 30 });
    const stop = new AbortController();
    await enter('eve');
    const stopped = await enter('bob', 'bob', 'quick', stop.signal);
    const late = await enter('ada');
    const surplus = await enter('carol');
    expect(await surplus.entering).toMatch(/too many documents/);
    stop.abort();
    expect(await stopped.entering).toBe('reading it was stopped');
    expect(await late.entering).toMatch(/too many documents/);
    await leave('eve');
    expect(admitted).toEqual(['eve']);
    await enter('dave');
    expect(admitted).toEqual(['eve', 'dave']);
  });
});

describe('the pause after a document that exceeded a limit', () => {
  it('[G19] doubles up to ten minutes, and is reset after an hour', () => {
    let now = 0;
    const rests = createSenderPauses(() => now);
    expect(rests.isSuspect('eve')).toBe(false);
    const lengths = Array.from({ length: 8 }, () => {
      rests.begin('eve');
      return rests.left('eve') / 1_000;
    });
    expect(lengths).toEqual([10, 20, 40, 80, 160, 320, 600, 600]);
    expect(rests.left('ada')).toBe(0);
    now = 3_599_999;
    expect([rests.left('eve'), rests.isSuspect('eve')]).toEqual([0, true]);
    now = 3_600_000;
    expect(rests.isSuspect('eve')).toBe(false);
  });
});
