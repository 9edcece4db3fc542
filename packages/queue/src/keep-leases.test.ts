import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger, systemTime } from '@parley/core';
import type { Lease } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { startLeaseRenewal } from './keep-leases.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/**
 * Keeps leases, using the given `renew`, and records which leases were lost. The duration is long
 * because a busy machine may pause for a large part of it.
 */
function keeping(renew: (leases: readonly Lease[]) => Promise<readonly string[]>, leaseMs = 1_000) {
  const lost: string[] = [];
  const keep = startLeaseRenewal({
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

describe('startLeaseRenewal', () => {
  it('[D05] renews all leases together, with one query at a time', async () => {
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

  it('[D02] loses only those leases that were not renewed', async () => {
    const { add, lost } = keeping(async (leases) => namesOf(leases).filter((name) => name !== 'b'));
    for (const name of ['a', 'b', 'c']) add(name);
    await expect.poll(() => lost).toContain('b');
    expect(new Set(lost)).toEqual(new Set(['b']));
  });

  it('[D02] keeps a lease while another transaction writes to its row, until it expires', async () => {
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

  it('[D02] loses all leases when the database does not answer in time', async () => {
    const { add, lost } = keeping(() => new Promise(() => {}), 100);
    for (const name of ['a', 'b']) add(name);
    await expect.poll(() => new Set(lost)).toEqual(new Set(['a', 'b']));
  });

  it('[D02] counts the lifetime of a lease from the request, not from the reply', async () => {
    const { add, lost } = keeping(() => Promise.reject(new Error('away')), 20_000);
    add('late', systemTime.monotonic() - 19_900);
    await expect.poll(() => lost).toContain('late');
  });

  it('[D13] reports a lease as lost once, and does not renew it after the database is back', async () => {
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

  it('does not renew a lease after it was released', async () => {
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
