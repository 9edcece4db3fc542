import type { AdapterValues } from '@parley/core';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { openStore } from './open-store.ts';
import type { RunningProcess } from './processes.ts';
import type { Store } from './store.ts';
import { listBothDatabases } from './testing/databases.ts';

const DAY_MS = 24 * 60 * 60_000;

function running(id: string): Omit<RunningProcess, 'startedAt'> {
  const address = 'http://127.0.0.1:7411';
  const facts = { agent: 'main', workspace: 'w1', settings: { owners: 'ab' }, clockAheadMs: -3 };
  return { id, role: 'gateway', host: 'here', pid: 7, address, version: '0.1.0', facts };
}

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`the list of processes on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());
    const ids = async () => (await store.processes.list()).map(({ id }) => id);
    const heartbeat = (id: string, now: number) => {
      database.setTime(now);
      return store.processes.heartbeat(running(id));
    };

    it('[D09] contains processes recorded within the last 15 s, oldest first', async () => {
      await heartbeat('a', 10);
      await heartbeat('b', 20);
      await heartbeat('a', 30);
      const both = [
        { ...running('a'), startedAt: 10 },
        { ...running('b'), startedAt: 20 },
      ];
      expect(await store.processes.list()).toEqual(both);
      database.setTime(20 + 15_001);
      expect(await ids()).toEqual(['a']);
    });

    it('[D13] no longer contains a process if the clock was set back since the process was last recorded', async () => {
      await heartbeat('dead', 3_600_000);
      await heartbeat('alive', 0);
      expect(await ids()).toEqual(['alive']);
    });

    it("[D10] returns the database's time to a process", async () => {
      const before = Date.now();
      const beat = await heartbeat('a', 0);
      const times = [await store.processes.time(), beat.kind === 'noted' ? beat.time : 0];
      for (const time of times) {
        expect(time).toBeGreaterThan(before - 1_000);
        expect(time).toBeLessThan(Date.now() + 1_000);
      }
    });

    it('[D09] no longer contains a process that signed off, or whose row is a day old', async () => {
      await heartbeat('a', 0);
      await heartbeat('b', 0);
      await store.processes.leave('a');
      expect(await ids()).toEqual(['b']);
      await heartbeat('c', DAY_MS + 1);
      database.setTime(0);
      expect(await ids()).toEqual([]);
    });
  });
}

const NAME = 'account:telegram/default';

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`a lease on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());
    const acquire = (owner: string, now: number) => {
      database.setTime(now);
      return store.leases.acquire(NAME, owner, 100);
    };
    const take = async (owner: string, now: number) => {
      const result = await acquire(owner, now);
      if (result.kind === 'busy') throw new Error(`held by ${result.owner}`);
      return result.lease;
    };

    it('[D09] is granted to one of several simultaneous requests', async () => {
      const asked = Array.from({ length: 20 }, (_, index) => acquire(`p${index}`, 0));
      const results = await Promise.all(asked);
      expect(results.filter(({ kind }) => kind === 'held')).toHaveLength(1);
    });

    it('[D09] tells later callers, including the holder, who holds it and for how long', async () => {
      await take('a', 0);
      expect(await acquire('b', 30)).toEqual({ kind: 'busy', owner: 'a', retryInMs: 70 });
      expect(await acquire('a', 30)).toEqual({ kind: 'busy', owner: 'a', retryInMs: 70 });
    });

    it('[D09] becomes free when it expires, and its former holder can neither renew nor release it', async () => {
      const lost = await take('a', 0);
      const kept = await take('b', 100);
      expect(kept.epoch).toBeGreaterThan(lost.epoch);
      expect(await store.leases.renew(lost, 900)).toBe(false);
      await store.leases.release(lost);
      expect(await acquire('c', 150)).toMatchObject({ kind: 'busy', owner: 'b' });
    });

    it('[D09] stays alive as long as it is renewed', async () => {
      const lease = await take('a', 0);
      database.setTime(90);
      expect(await store.leases.renew(lease, 100)).toBe(true);
      expect(await acquire('b', 150)).toMatchObject({ kind: 'busy', retryInMs: 40 });
    });

    it('[D09] becomes free as soon as it is released, and its epoch only rises', async () => {
      const first = await take('a', 0);
      await store.leases.release(first);
      expect(await store.leases.renew(first, 900)).toBe(false);
      const second = await take('a', 1);
      expect(second.epoch).toBeGreaterThan(first.epoch);
    });

    it('[D14] is reserved for a successor when released, and available to everyone when the reservation ends', async () => {
      const lease = await take('a', 0);
      await store.leases.release(lease, 500);
      expect(await store.leases.renewAll('b', [], 0)).toEqual([
        { name: NAME, epoch: 1, owner: null, leftMs: 500 },
      ]);
      database.setTime(50);
      expect(await store.leases.held()).toEqual([]);
      expect((await take('b', 50)).epoch).toBe(2);
    });

    it('[D14] is renewed together with all other leases of its owner, except lost ones', async () => {
      await take('a', 0);
      const others = ['account:b', 'account:c'];
      for (const name of others) await store.leases.acquire(name, 'b', 100);
      const left = async (now: number) => {
        database.setTime(now);
        const rows = await store.leases.renewAll('b', [NAME, 'account:b'], 100);
        return rows.map(({ leftMs }) => leftMs);
      };
      expect(await left(30)).toEqual([100, 70, 70]);
      expect(await left(60)).toEqual([100, 40, 40]);
    });

    it('[D13] expires after its duration if its process crashed, even if the clock was set back', async () => {
      await take('dead', 3_600_000);
      expect(await acquire('b', 0)).toEqual({ kind: 'busy', owner: 'dead', retryInMs: 100 });
      expect(await acquire('b', 99)).toMatchObject({ kind: 'busy', retryInMs: 1 });
      expect(await acquire('b', 100)).toMatchObject({ kind: 'held' });
    });

    it('[D13] lasts for its full duration when it is renewed after the clock was set back', async () => {
      const lease = await take('a', 3_600_000);
      database.setTime(0);
      await store.leases.renew(lease, 100);
      expect(await store.leases.held()).toEqual([{ name: NAME, owner: 'a', leftMs: 100 }]);
      database.setTime(3_600_000);
      await store.leases.renewAll('a', [NAME], 100);
      database.setTime(0);
      expect(await store.leases.renewAll('a', [NAME], 100)).toMatchObject([{ leftMs: 100 }]);
    });

    it('[D14] is shortened for waiting processes only if it would outlast its normal length', async () => {
      await take('dead', 3_600_000);
      database.setTime(0);
      await store.leases.acquire('account:b', 'b', 80);
      await store.leases.shorten([NAME, 'account:b'], 100);
      expect(await store.leases.held()).toEqual([
        { name: 'account:b', owner: 'b', leftMs: 80 },
        { name: NAME, owner: 'dead', leftMs: 100 },
      ]);
    });

    it('[D13] ends with the process that had exclusive use of the database', async () => {
      await take('killed', 0);
      await store.leases.releaseAll();
      expect(await acquire('next', 1)).toMatchObject({ kind: 'held', lease: { epoch: 2 } });
    });

    it('is independent of leases with other names', async () => {
      await take('a', 0);
      expect(await store.leases.acquire('workspace:main', 'b', 100)).toMatchObject({
        kind: 'held',
      });
      database.setTime(50);
      expect(await store.leases.held()).toEqual([
        { name: NAME, owner: 'a', leftMs: 50 },
        { name: 'workspace:main', owner: 'b', leftMs: 50 },
      ]);
      database.setTime(100);
      expect(await store.leases.held()).toEqual([]);
    });
  });
}

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`adapter state on ${database.name}`, () => {
    let store: Store;
    let values: AdapterValues;
    beforeEach(async () => {
      store = await database.openEmpty();
      values = store.adapterValues('whatsapp', 'default');
    });
    afterAll(() => database.dispose());

    it('survives a restart, and can be read selectively', async () => {
      await values.set([
        { kind: 'session', id: 'a', value: '1' },
        { kind: 'session', id: 'b', value: '2' },
        { kind: 'key', id: 'a', value: '3' },
      ]);
      await store.close();
      const again = await openStore({ url: database.url(), clock: () => 0 });
      const found = await again.adapterValues('whatsapp', 'default').get('session', ['a', 'x']);
      await again.close();
      expect([...found]).toEqual([['a', '1']]);
    });

    it('[D09] can be written only while the lease is held, and read in full by the next holder', async () => {
      const take = async (owner: string, now: number) => {
        database.setTime(now);
        const acquired = await store.leases.acquire('account:whatsapp/default', owner, 10);
        if (acquired.kind === 'busy') throw new Error('it is held');
        return store.adapterValues('whatsapp', 'default', acquired.lease);
      };
      const change = (value: string) => [{ kind: 'k', id: 'a', value }];
      const old = await take('old', 0);
      await old.set(change('old'));
      const next = await take('next', 20);
      await expect(old.set(change('late'))).rejects.toMatchObject({ code: 'store-fenced' });
      await expect(old.clear()).rejects.toMatchObject({ code: 'store-fenced' });
      expect([...(await next.get('k', ['a']))]).toEqual([['a', 'old']]);
      await next.set(change('next'));
      expect([...(await old.get('k', ['a']))]).toEqual([['a', 'next']]);
    });

    it('can be added, changed and removed in one step; of two changes, the last one is kept', async () => {
      await values.set([
        { kind: 'k', id: 'gone', value: 'old' },
        { kind: 'k', id: 'new', value: 'old' },
      ]);
      await values.set([
        { kind: 'k', id: 'gone', value: null },
        { kind: 'k', id: 'new', value: 'first' },
        { kind: 'k', id: 'new', value: 'last' },
      ]);
      expect([...(await values.get('k', ['gone', 'new']))]).toEqual([['new', 'last']]);
    });

    it('can contain a thousand new values at once', async () => {
      const ids = Array.from({ length: 1_000 }, (_, at) => `pre-key-${at}`);
      await values.set(ids.map((id) => ({ kind: 'pre-key', id, value: id })));
      expect((await values.get('pre-key', ids)).size).toBe(1_000);
    });

    it('belongs to one account, and is cleared for that account only', async () => {
      const other = store.adapterValues('whatsapp', 'second');
      const change = { kind: 'k', id: 'a', value: 'mine' };
      await values.set([change]);
      await other.set([{ ...change, value: 'theirs' }]);
      await values.clear();
      expect((await values.get('k', ['a'])).size).toBe(0);
      expect((await other.get('k', ['a'])).get('a')).toBe('theirs');
    });
  });
}
