import type { AdapterValues } from '@parley/core';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { openStore, type Store } from './open-store.ts';
import { bothDatabases } from './testing/databases.ts';

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
