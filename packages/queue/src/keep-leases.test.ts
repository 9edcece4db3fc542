import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger, systemTime } from '@parley/core';
import type { Lease } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { keepLeases } from './lane.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Leases that `renew` prolongs, and the names of those that were lost; a busy machine may pause for most of `leaseMs`. */
function keeping(renew: (leases: readonly Lease[]) => Promise<readonly string[]>, leaseMs = 1_000) {
  const lost: string[] = [];
  const keep = keepLeases({
    lanes: {
      renew: async (leases) => ({
        renewed: (await renew(leases)).filter((id) => !id.startsWith('busy')),
        busy: namesOf(leases).filter((id) => id.startsWith('busy')),
      }),
    },
    monotonic: systemTime.monotonic,
    log: silentLogger,
    leaseMs,
  });
  return {
    lost,
    add(conversationId: string, askedAt = systemTime.monotonic()) {
      const end = keep({ conversationId, epoch: 1 }, askedAt, () => lost.push(conversationId));
      ends.push(end);
      return end;
    },
  };
}

const namesOf = (leases: readonly Lease[]) => leases.map(({ conversationId }) => conversationId);

describe('the leases of a worker', () => {
  it('[D05] are renewed together, by one query at a time', async () => {
    const asked: (readonly string[])[] = [];
    let atOnce = 0;
    let most = 0;
    const { add, lost } = keeping(async (leases) => {
      asked.push(namesOf(leases));
      atOnce += 1;
      most = Math.max(most, atOnce);
      await sleep(400);
      atOnce -= 1;
      return namesOf(leases);
    });
    for (const name of ['a', 'b', 'c']) add(name);
    await expect.poll(() => asked.length).toBeGreaterThan(3);
    expect(asked.every((names) => names.join('') === 'abc')).toBe(true);
    expect(most).toBe(1);
    expect(lost).toEqual([]);
  });

  it('[D02] are lost each for itself', async () => {
    const { add, lost } = keeping(async (leases) => namesOf(leases).filter((name) => name !== 'b'));
    for (const name of ['a', 'b', 'c']) add(name);
    await expect.poll(() => lost).toContain('b');
    expect(new Set(lost)).toEqual(new Set(['b']));
  });

  it('[D02] are kept while another transaction writes to their row, until they run out', async () => {
    let renewals = 0;
    const { add, lost } = keeping(async (leases) => {
      renewals += 1;
      return namesOf(leases);
    }, 1_500);
    for (const name of ['a', 'busy']) add(name);
    await expect.poll(() => renewals).toBeGreaterThan(0);
    expect(lost).toEqual([]);
    await expect.poll(() => lost).toEqual(['busy']);
  });

  it('[D02] are all lost when the database does not answer in time', async () => {
    const { add, lost } = keeping(() => new Promise(() => {}), 100);
    for (const name of ['a', 'b']) add(name);
    await expect.poll(() => new Set(lost)).toEqual(new Set(['a', 'b']));
  });

  it('[D02] run out counted from when they were asked for, not from when they were got', async () => {
    const { add, lost } = keeping(() => Promise.reject(new Error('away')), 20_000);
    add('late', systemTime.monotonic() - 19_900);
    await expect.poll(() => lost).toContain('late');
  });

  it('[D13] are lost once, and not renewed when the database is back', async () => {
    let isAway = true;
    const asked: string[] = [];
    const { add, lost } = keeping(async (leases) => {
      if (isAway) throw new Error('away');
      asked.push(...namesOf(leases));
      return namesOf(leases);
    });
    add('a');
    await expect.poll(() => lost).toEqual(['a']);
    isAway = false;
    add('b');
    await expect.poll(() => asked).toContain('b');
    expect({ lost, asked: new Set(asked) }).toEqual({ lost: ['a'], asked: new Set(['b']) });
  });

  it('are not renewed any more once they were given back', async () => {
    let asked = 0;
    const { add } = keeping(async (leases) => {
      asked += 1;
      return namesOf(leases);
    }, 100);
    add('a')();
    await sleep(80);
    expect(asked).toBe(0);
  });
});
