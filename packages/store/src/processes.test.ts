import type { AdapterValues } from '@parley/core';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { openStore, type Store } from './open-store.ts';
import type { RunningProcess } from './processes.ts';
import { bothDatabases } from './testing/databases.ts';

const DAY_MS = 24 * 60 * 60_000;

function running(id: string, startedAt = 0): RunningProcess {
  const address = 'http://127.0.0.1:7411';
  const facts = { agent: 'main', workspace: 'w1', settings: { owners: 'ab' }, clockAheadMs: -3 };
  return { id, role: 'gateway', host: 'here', pid: 7, address, version: '0.1.0', startedAt, facts };
}

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`the processes on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());
    const ids = async (since: number) => (await store.processes.list(since)).map(({ id }) => id);

    it('[D09] are those that were heard of lately, the oldest first', async () => {
      await store.processes.heartbeat(running('b', 20), 20);
      await store.processes.heartbeat(running('a', 10), 10);
      await store.processes.heartbeat(running('a', 10), 30);
      expect(await store.processes.list(20)).toEqual([running('a', 10), running('b', 20)]);
      expect(await ids(30)).toEqual(['a']);
    });

    it('[D10] hear what time it is for the database', async () => {
      const before = Date.now();
      const beat = await store.processes.heartbeat(running('a'), 0);
      const times = [await store.processes.time(), beat.kind === 'noted' ? beat.time : 0];
      for (const time of times) {
        expect(time).toBeGreaterThan(before - 1_000);
        expect(time).toBeLessThan(Date.now() + 1_000);
      }
    });

    it('[D09] are gone when they say so, or after a day', async () => {
      await store.processes.heartbeat(running('a'), 0);
      await store.processes.heartbeat(running('b'), 0);
      await store.processes.leave('a');
      expect(await ids(0)).toEqual(['b']);
      await store.processes.heartbeat(running('c'), DAY_MS + 1);
      expect(await ids(0)).toEqual(['c']);
    });
  });
}

const NAME = 'account:telegram/default';

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`a lease on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());
    const acquire = (owner: string, now: number) => store.leases.acquire(NAME, owner, now, 100);
    const take = async (owner: string, now: number) => {
      const result = await acquire(owner, now);
      if (result.kind === 'busy') throw new Error(`held by ${result.owner}`);
      return result.lease;
    };

    it('[D09] goes to one of those who ask at the same time', async () => {
      const asked = Array.from({ length: 20 }, (_, index) => acquire(`p${index}`, 0));
      const results = await Promise.all(asked);
      expect(results.filter(({ kind }) => kind === 'held')).toHaveLength(1);
    });

    it('[D09] tells those who come too late who holds it and for how long, the holder, too', async () => {
      await take('a', 0);
      expect(await acquire('b', 30)).toEqual({ kind: 'busy', owner: 'a', retryInMs: 70 });
      expect(await acquire('a', 30)).toEqual({ kind: 'busy', owner: 'a', retryInMs: 70 });
    });

    it('[D09] is free once it has run out, and the loser cannot prolong or release it', async () => {
      const lost = await take('a', 0);
      const kept = await take('b', 100);
      expect(kept.epoch).toBeGreaterThan(lost.epoch);
      expect(await store.leases.renew(lost, 900)).toBe(false);
      await store.leases.release(lost);
      expect(await acquire('c', 150)).toMatchObject({ kind: 'busy', owner: 'b' });
    });

    it('[D09] lives on as long as it is renewed', async () => {
      const lease = await take('a', 0);
      expect(await store.leases.renew(lease, 190)).toBe(true);
      expect(await acquire('b', 150)).toMatchObject({ kind: 'busy', retryInMs: 40 });
    });

    it('[D09] is free as soon as it is given back, and its epoch grows for ever', async () => {
      const first = await take('a', 0);
      await store.leases.release(first);
      expect(await store.leases.renew(first, 900)).toBe(false);
      const second = await take('a', 1);
      expect(second.epoch).toBeGreaterThan(first.epoch);
    });

    it('[D14] that is reserved is there for a successor, and free for all after a while', async () => {
      const lease = await take('a', 0);
      await store.leases.release(lease, 500);
      expect(await store.leases.renewAll('b', [], 0)).toEqual([
        { name: NAME, epoch: 1, owner: null, until: 500 },
      ]);
      expect(await store.leases.held(50)).toEqual([]);
      expect((await take('b', 50)).epoch).toBe(2);
    });

    it('[D14] is prolonged with all others of its owner, unless it was lost; never shortened', async () => {
      await take('a', 0);
      const others = ['account:b', 'account:c'];
      for (const name of others) await store.leases.acquire(name, 'b', 0, 100);
      const untils = async (until: number) =>
        (await store.leases.renewAll('b', [NAME, 'account:b'], until)).map((row) => row.until);
      expect(await untils(300)).toEqual([300, 100, 100]);
      expect(await untils(200)).toEqual([300, 100, 100]);
    });

    it('of one name has nothing to do with that of another', async () => {
      await take('a', 0);
      expect(await store.leases.acquire('workspace:main', 'b', 0, 100)).toMatchObject({
        kind: 'held',
      });
      expect(await store.leases.held(50)).toEqual([
        { name: NAME, owner: 'a', until: 100 },
        { name: 'workspace:main', owner: 'b', until: 100 },
      ]);
      expect(await store.leases.held(100)).toEqual([]);
    });
  });
}

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`what adapters remember on ${database.name}`, () => {
    let store: Store;
    let values: AdapterValues;
    beforeEach(async () => {
      store = await database.openEmpty();
      values = store.adapterValues('whatsapp', 'default');
    });
    afterAll(() => database.dispose());

    it('is there after a restart, and only what was asked for is told', async () => {
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

    it('[D09] is written only while the lease is held, and the next holder reads all that was written', async () => {
      const take = async (owner: string, now: number) => {
        const acquired = await store.leases.acquire('account:whatsapp/default', owner, now, 10);
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

    it('changes, removes and adds in one go, the last of two changes counting', async () => {
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

    it('takes a thousand values at once', async () => {
      const ids = Array.from({ length: 1_000 }, (_, at) => `pre-key-${at}`);
      await values.set(ids.map((id) => ({ kind: 'pre-key', id, value: id })));
      expect((await values.get('pre-key', ids)).size).toBe(1_000);
    });

    it('belongs to one account, also when it is cleared', async () => {
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
