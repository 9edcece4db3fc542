import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { SignIn } from './access.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';

const signIn = (name: string, more: Partial<SignIn> = {}): SignIn => ({
  ...{ id: `id of ${name}`, hash: `hash of ${name}`, name, role: 'operator' },
  ...{ createdAt: 10, usedAt: null, ...more },
});

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`named sign-ins on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
      expect(await store.signIns.add(signIn('bob'))).toBe('added');
    });
    afterAll(() => database.dispose());

    const session = (id: string, openedWith: string) =>
      store.pageSessions.open({
        ...{ id, hash: id, openedWith, userAgent: '', network: 'internet' },
        ...{ createdAt: 10, usedAt: 10, expiresAt: 100 },
      });

    it('[U03] keeps sign-in names unique, and finds sign-ins by the hash of their token', async () => {
      expect(await store.signIns.add(signIn('ann', { role: 'owner' }))).toBe('added');
      expect(await store.signIns.add({ ...signIn('bob'), id: 'x', hash: 'x' })).toBe('taken');
      expect(await store.signIns.add(signIn('BOB'))).toBe('taken');
      expect((await store.signIns.list()).map(({ name }) => name)).toEqual(['ann', 'bob']);
      expect(await store.signIns.find('hash of bob')).toEqual(signIn('bob'));
      expect(await store.signIns.find('x')).toBeNull();
    });

    it("[U03] keeps a sign-in's latest use, even if another gateway reports an earlier use afterwards", async () => {
      await store.signIns.use('hash of bob', 30);
      await store.signIns.use('hash of bob', 20);
      expect(await store.signIns.find('hash of bob')).toMatchObject({ usedAt: 30 });
    });

    it('[U03] ends only the sessions of the sign-in that was revoked', async () => {
      await session('a', 'hash of bob');
      await session('b', 'hash of bob');
      await session('c', 'the token');
      expect(await store.signIns.revoke('nobody')).toBeNull();
      expect(await store.signIns.revoke('bob')).toEqual({ sessions: 2 });
      expect(await store.signIns.revoke('bob')).toBeNull();
      expect(await store.signIns.find('hash of bob')).toBeNull();
      expect((await store.pageSessions.list(20)).map(({ id }) => id)).toEqual(['c']);
      expect(await store.signIns.add(signIn('bob'))).toBe('added');
    });

    it('[U03] allows at most 100 sign-ins', async () => {
      for (let nth = 1; nth < 100; nth += 1) await store.signIns.add(signIn(`p${nth}`));
      expect(await store.signIns.add(signIn('one more'))).toBe('full');
    });
  });
}
