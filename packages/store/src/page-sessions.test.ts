import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { PageSession } from './access.ts';
import type { Store } from './open-store.ts';
import { bothDatabases } from './testing/databases.ts';

const session = (id: string, usedAt: number): PageSession => ({
  ...{ id, hash: `hash of ${id}`, openedWith: 'token', userAgent: 'Firefox 🦊' },
  ...{ network: 'local-network', createdAt: 10, usedAt, expiresAt: usedAt + 100 },
});

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`sessions of the page on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
      for (const one of [session('a', 20), session('b', 50)]) await store.pageSessions.open(one);
    });
    afterAll(() => database.dispose());

    it('[U03] are found until they expire, the last used first', async () => {
      expect(await store.pageSessions.list(119)).toEqual([session('b', 50), session('a', 20)]);
      expect(await store.pageSessions.find('a', 119)).toEqual(session('a', 20));
      expect(await store.pageSessions.find('a', 120)).toBeNull();
      expect(await store.pageSessions.list(120)).toEqual([session('b', 50)]);
    });

    it('[U03] are renewed by a use, never shortened by an earlier one of another gateway', async () => {
      await store.pageSessions.use({ id: 'a', usedAt: 60, expiresAt: 160 });
      await store.pageSessions.use({ id: 'a', usedAt: 55, expiresAt: 155 });
      expect(await store.pageSessions.find('a', 159)).toMatchObject({ usedAt: 60 });
      await store.pageSessions.use({ id: 'gone', usedAt: 60, expiresAt: 160 });
      expect(await store.pageSessions.find('gone', 60)).toBeNull();
    });

    it('[U03] are ended one by one or all at once', async () => {
      expect(await store.pageSessions.end('none')).toBe(0);
      expect(await store.pageSessions.end('a')).toBe(1);
      expect(await store.pageSessions.find('a', 30)).toBeNull();
      await store.pageSessions.open(session('c', 50));
      expect(await store.pageSessions.end('all')).toBe(2);
      expect(await store.pageSessions.list(0)).toEqual([]);
    });

    it('[U03] that have expired are removed when the next one is opened', async () => {
      await store.pageSessions.open({ ...session('d', 130), createdAt: 130 });
      expect((await store.pageSessions.list(0)).map(({ id }) => id)).toEqual(['d', 'b']);
    });
  });
}
