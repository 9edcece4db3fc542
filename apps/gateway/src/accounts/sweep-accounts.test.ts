import { silentLogger } from '@parley/core';
import type { AccountWork } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AccountSweeps, sweepAccounts } from './sweep-accounts.ts';

const LOOK_MS = 5_000;
const ANN = { channel: 'telegram', account: 'ann' };
const BOB = { channel: 'telegram', account: 'bob' };

let found: AccountWork[];
let looks: number;
let ran: string[];
let sweeps: AccountSweeps;

beforeEach(() => {
  vi.useFakeTimers();
  [found, looks, ran] = [[], 0, []];
  const accountsWithWork = async () => {
    looks += 1;
    return found;
  };
  const store = { outbox: { accountsWithWork } };
  sweeps = sweepAccounts({ store, clock: Date.now, log: silentLogger });
});
afterEach(async () => {
  await sweeps.stop();
  vi.useRealTimers();
});

/** Starts a sweep and discards its first round, which runs immediately. */
async function start(name: typeof ANN, kind: AccountWork['kind'], fails = false) {
  const sweep = sweeps.of(
    name,
    kind,
  )(async () => {
    ran.push(`${kind} of ${name.account}`);
    if (fails) throw new Error('the database is away');
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(ran.splice(0)).toEqual([`${kind} of ${name.account}`]);
  return sweep;
}

const look = () => vi.advanceTimersByTimeAsync(LOOK_MS);

describe('the sweeps for all accounts', () => {
  it('[D04] run for the accounts and kinds of work found by a single query', async () => {
    await start(ANN, 'parts');
    await start(ANN, 'files');
    await start(BOB, 'parts');
    const before = looks;
    found = [
      { ...ANN, kind: 'files' },
      { ...BOB, kind: 'parts' },
    ];
    await look();
    expect(ran).toEqual(['files of ann', 'parts of bob']);
    expect(looks - before).toBe(1);
    [found, ran] = [[], []];
    await look();
    expect(ran).toEqual([]);
  });

  it('do not query the database while there are no accounts', async () => {
    await look();
    expect(looks).toBe(0);
  });

  it('skip accounts whose sweep was stopped, and work that belongs to other gateways', async () => {
    const parts = await start(ANN, 'parts');
    await start(ANN, 'files');
    await parts.stop();
    found = [
      { ...ANN, kind: 'parts' },
      { ...ANN, kind: 'files' },
      { ...BOB, kind: 'parts' },
    ];
    await look();
    expect(ran).toEqual(['files of ann']);
  });

  it('[D13] run again after a failure', async () => {
    await start(ANN, 'parts', true);
    found = [{ ...ANN, kind: 'parts' }];
    await look();
    await look();
    expect(ran).toEqual(['parts of ann', 'parts of ann']);
  });
});
