import { systemTime } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import { type Store, StoreError } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AccountRight, AccountRights } from './account-rights.ts';
import { createLeasedRights } from './leased-rights.ts';

const NAME = { channel: 'telegram', account: 'default' };
const LEASE = 'account:telegram/default';
// The time is long enough that a pause on a busy machine does not lose the lease.
const LEASE_MS = 1_000;

describe('the right to serve an account', () => {
  let store: Store;
  let stop: AbortController;
  /** How far (ms) the clock of the leases is ahead of the gateways' clock. */
  let forward = 0;
  const given: AccountRight[] = [];
  const gateways: AccountRights[] = [];
  beforeEach(async () => {
    forward = 0;
    store = await openMemoryStore({ clock: () => Date.now() + forward });
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    for (const right of given.splice(0)) await right.release();
    for (const gateway of gateways.splice(0)) await gateway.close();
    await store.close();
  });

  function open(owner: string, on = store): AccountRights {
    const { log } = createRecordingLogger();
    const rights = createLeasedRights({
      store: on,
      owner,
      clock: Date.now,
      monotonic: systemTime.monotonic,
      log,
      leaseMs: LEASE_MS,
    });
    gateways.push(rights);
    return rights;
  }

  async function obtain(owner: string, holders: string[] = [], on = store): Promise<AccountRight> {
    const rights = open(owner, on);
    const right = await rights.obtain(NAME, (holder) => void holders.push(holder), stop.signal);
    if (right === null) throw new Error('stopped');
    given.push(right);
    return right;
  }

  it('[D09] shows its current holder to a waiting gateway, which acquires it once it is released', async () => {
    const facts = { role: 'gateway', host: 'here', pid: 7, version: '0.1.0' } as const;
    await store.processes.heartbeat({ id: 'a', address: 'http://127.0.0.1:1', ...facts });
    const first = await obtain('a');
    const holders: string[] = [];
    const second = obtain('b', holders);
    await vi.waitFor(() => expect(holders).toContain('the gateway on here (7)'), 30_000);
    await first.release();
    expect((await second).lost.aborted).toBe(false);
  });

  it('[D09] is renewed until it is released', async () => {
    const right = await obtain('a');
    await new Promise((wake) => setTimeout(wake, 2 * LEASE_MS));
    expect(right.lost.aborted).toBe(false);
    expect(await store.leases.acquire(LEASE, 'b', LEASE_MS)).toMatchObject({ kind: 'busy' });
  });

  it('[D09] is acquired by a waiting gateway after its holder has died', async () => {
    await store.leases.acquire(LEASE, 'dead', 300);
    const holders: string[] = [];
    await obtain('b', holders);
    expect(holders).toContain('another gateway');
  });

  it('[D09] is lost before another gateway can acquire it if the database does not respond', async () => {
    let isAway = false;
    const away = () => Promise.reject(new StoreError('store-unreachable', 'away'));
    const renewAll: typeof store.leases.renewAll = (...asked) =>
      isAway ? away() : store.leases.renewAll(...asked);
    const right = await obtain('a', [], { ...store, leases: { ...store.leases, renewAll } });
    isAway = true;
    const free = await new Promise((lost) => {
      right.lost.addEventListener('abort', () => lost(store.leases.acquire(LEASE, 'b', LEASE_MS)));
    });
    expect(free).toMatchObject({ kind: 'busy' });
  });

  it('[D09] is not held when a stalled process resumes', async () => {
    const right = await obtain('a');
    expect(right.isHeld()).toBe(true);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LEASE_MS);
    expect(right.lost.aborted).toBe(false);
    expect(right.isHeld()).toBe(false);
    expect(right.lost.aborted).toBe(true);
  });

  it('[D09] is lost as soon as another gateway acquires it', async () => {
    const right = await obtain('a');
    forward = LEASE_MS;
    await store.leases.acquire(LEASE, 'b', 10 * LEASE_MS);
    forward = 0;
    await vi.waitFor(() => expect(right.lost.aborted).toBe(true), 30_000);
    await expect(right.outbox.markSending('part', 0)).rejects.toMatchObject({
      code: 'store-fenced',
    });
  });

  it('[D11] is not awaited once the gateway has begun to shut down', async () => {
    await obtain('a');
    const waiting = obtain('b');
    stop.abort();
    await expect(waiting).rejects.toThrow('stopped');
  });

  /** Simulates a gateway that serves as many of these accounts as it can acquire. */
  function serve(owner: string, names: readonly string[], serves: Set<string>) {
    const rights = open(owner);
    const own = new Set<string>();
    const ending = new AbortController();
    const signal = AbortSignal.any([stop.signal, ending.signal]);
    const hold = async (account: string): Promise<void> => {
      while (!signal.aborted) {
        const right = await rights.obtain({ channel: 'test', account }, () => {}, signal);
        if (right === null) return;
        if (serves.has(account)) throw new Error(`${account} is served twice`);
        serves.add(account);
        own.add(account);
        await new Promise((end) => {
          for (const over of [right.recalled, right.lost, signal]) {
            over.addEventListener('abort', end);
          }
        });
        serves.delete(account);
        own.delete(account);
        await right.release();
      }
    };
    const running = Promise.all(names.map(hold));
    const end = async () => {
      rights.leave();
      ending.abort();
      await running;
      await rights.close();
    };
    return { own, end };
  }

  it('[D14] is shared: a second gateway gets half of the accounts, and its slow successor gets the same accounts', async () => {
    const names = ['1', '2', '3', '4', '5', '6'];
    const serves = new Set<string>();
    const first = serve('a', names, serves);
    await vi.waitFor(() => expect(first.own.size).toBe(6), 30_000);
    const second = serve('b', names, serves);
    await vi.waitFor(() => expect([first.own.size, second.own.size]).toEqual([3, 3]), 30_000);
    const before = [...second.own].toSorted();
    await second.end();
    // A restart may take longer than a lease; until then, the other gateways do not acquire the
    // accounts.
    await new Promise((wake) => setTimeout(wake, 1.5 * LEASE_MS));
    expect(first.own.size).toBe(3);
    const successor = serve('c', names, serves);
    await vi.waitFor(() => expect([...successor.own].toSorted()).toEqual(before), 30_000);
    expect(first.own.size).toBe(3);
    await successor.end();
    await vi.waitFor(() => expect(first.own.size).toBe(6), 30_000);
  });

  it('[D14] returns to its previous holder if the gateway for which it was released does not acquire it', async () => {
    const names = ['1', '2', '3'];
    const able = serve('a', names, new Set());
    await vi.waitFor(() => expect(able.own.size).toBe(3), 30_000);
    const unable = serve('b', ['4'], new Set());
    await vi.waitFor(() => expect(able.own.size).toBe(2), 30_000);
    await vi.waitFor(() => expect(able.own.size).toBe(3), 30_000);
    await new Promise((wake) => setTimeout(wake, 3 * LEASE_MS));
    expect([able.own.size, unable.own.size]).toEqual([3, 1]);
  });

  it('names the process that holds the right', async () => {
    const rights = open('b');
    expect(await rights.holder(NAME)).toBeNull();
    await store.leases.acquire(LEASE, 'a', 60_000);
    expect(await rights.holder(NAME)).toBeNull();
    const address = 'http://127.0.0.1:7411';
    const facts = { role: 'gateway', host: 'here', pid: 7, version: '0.1.0' } as const;
    await store.processes.heartbeat({ id: 'a', address, ...facts });
    expect(await rights.holder(NAME)).toMatchObject({ id: 'a', address });
  });
});
