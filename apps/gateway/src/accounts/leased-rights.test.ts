import { recordingLogger } from '@parley/contracts';
import { openStore, type Store, StoreError } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AccountRight } from './account-rights.ts';
import { leasedRights } from './leased-rights.ts';

const NAME = { channel: 'telegram', account: 'default' };
const LEASE = 'account:telegram/default';
const LEASE_MS = 400;

describe('the right to serve an account', () => {
  let store: Store;
  let stop: AbortController;
  const given: AccountRight[] = [];
  beforeEach(async () => {
    store = await openStore({ url: 'sqlite::memory:', clock: Date.now });
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    for (const right of given.splice(0)) await right.release();
    await store.close();
  });

  async function obtain(owner: string, holders: string[] = [], on = store): Promise<AccountRight> {
    const { log } = recordingLogger();
    const rights = leasedRights({ store: on, owner, clock: Date.now, log, leaseMs: LEASE_MS });
    const right = await rights.obtain(NAME, (holder) => void holders.push(holder), stop.signal);
    if (right === null) throw new Error('stopped');
    given.push(right);
    return right;
  }

  it('[D09] is waited for, with the name of who has it, and comes once it is given back', async () => {
    const facts = {
      role: 'gateway',
      host: 'here',
      pid: 7,
      version: '0.1.0',
      startedAt: 1,
    } as const;
    await store.processes.beat({ id: 'a', address: 'http://127.0.0.1:1', ...facts }, Date.now());
    const first = await obtain('a');
    const holders: string[] = [];
    const second = obtain('b', holders);
    await vi.waitFor(() => expect(holders).toContain('the gateway on here (7)'));
    await first.release();
    expect((await second).lost.aborted).toBe(false);
  });

  it('[D09] is prolonged for as long as it is wanted', async () => {
    const right = await obtain('a');
    await new Promise((wake) => setTimeout(wake, 2 * LEASE_MS));
    expect(right.lost.aborted).toBe(false);
    expect(await store.leases.acquire(LEASE, 'b', Date.now(), 1)).toMatchObject({ kind: 'busy' });
  });

  it('[D09] comes when whoever had it is dead', async () => {
    await store.leases.acquire(LEASE, 'dead', Date.now(), 300);
    const holders: string[] = [];
    await obtain('b', holders);
    expect(holders).toContain('another gateway');
  });

  it('[D09] is lost before another can have it, when the database does not answer', async () => {
    const renew = () => Promise.reject(new StoreError('store-unreachable', 'away'));
    const right = await obtain('a', [], { ...store, leases: { ...store.leases, renew } });
    const lostAt = await new Promise<number>((lost) => {
      right.lost.addEventListener('abort', () => lost(Date.now()));
    });
    expect(await store.leases.acquire(LEASE, 'b', lostAt, 1)).toMatchObject({ kind: 'busy' });
  });

  it('[D09] is lost as soon as another has it', async () => {
    const right = await obtain('a');
    await store.leases.acquire(LEASE, 'b', Date.now() + LEASE_MS, 10 * LEASE_MS);
    await vi.waitFor(() => expect(right.lost.aborted).toBe(true));
    await expect(right.outbox.markSending('part', 0)).rejects.toMatchObject({
      code: 'store-fenced',
    });
  });

  it('[D11] is not waited for any longer at the end', async () => {
    await obtain('a');
    const waiting = obtain('b');
    stop.abort();
    await expect(waiting).rejects.toThrow('stopped');
  });

  it('tells the process that has it', async () => {
    const { log } = recordingLogger();
    const rights = leasedRights({ store, owner: 'b', clock: Date.now, log });
    expect(await rights.holder(NAME)).toBeNull();
    await store.leases.acquire(LEASE, 'a', Date.now(), 1_000);
    expect(await rights.holder(NAME)).toBeNull();
    const address = 'http://127.0.0.1:7411';
    const facts = {
      role: 'gateway',
      host: 'here',
      pid: 7,
      version: '0.1.0',
      startedAt: 1,
    } as const;
    await store.processes.beat({ id: 'a', address, ...facts }, Date.now());
    expect(await rights.holder(NAME)).toMatchObject({ id: 'a', address });
  });
});
