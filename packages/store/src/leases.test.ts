import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from './open-store.ts';
import { bothDatabases } from './testing/databases.ts';

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
