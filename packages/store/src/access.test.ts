import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { PageSession } from './access.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createMessage, createPart, createTestRoute } from './testing/messages.ts';

const HOUR = 60 * 60_000;

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`pairing on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const applicant = (senderId: string, account = 'default') => ({
      channel: 'web',
      account,
      senderId,
      senderName: 'Eve',
      route: createTestRoute(senderId),
    });
    const ask = (senderId: string, code: string, now = 0, account?: string) =>
      store.pairing.request(applicant(senderId, account), code, [createPart(code, senderId)], now);
    const told = async (chatId: string) =>
      (await store.outbox.recent(createTestRoute(chatId), 9)).map(({ part }) => part.body.plain);

    it('[F05] issues one code per sender and hour, and shows the code once', async () => {
      expect(await ask('a', 'C1')).toBe('new');
      expect(await ask('a', 'C2', HOUR - 1)).toBe('known');
      expect(await ask('a', 'C3', HOUR)).toBe('new');
      expect(await told('a')).toEqual(['C1', 'C3']);
      expect(await store.pairing.pending(HOUR)).toMatchObject([{ code: 'C3', senderId: 'a' }]);
    });

    it('[F05] keeps at most 3 pending requests per account, even when many strangers ask at once', async () => {
      const all = ['a', 'b', 'c', 'd', 'e'];
      const asked = await Promise.all(all.map((id) => ask(id, `C${id}`)));
      expect(asked.filter((result) => result === 'new')).toHaveLength(3);
      expect(asked.filter((result) => result === 'full')).toHaveLength(2);
      expect(await ask('f', 'Cf', 0, 'other')).toBe('new');
    });

    it('[F05] admits a sender once for a valid code and stores the welcome message in the same transaction', async () => {
      await ask('a', 'C1');
      const welcome = () => [createPart('welcome', 'a')];
      expect(await store.pairing.approve('C1', welcome, HOUR)).toBeNull();
      expect(await store.pairing.isAllowed('web', 'default', 'a')).toBe(false);
      expect(await store.pairing.approve('C1', welcome, 1)).toMatchObject({ senderId: 'a' });
      expect(await store.pairing.approve('C1', welcome, 2)).toBeNull();
      expect(await store.pairing.isAllowed('web', 'default', 'a')).toBe(true);
      expect(await store.pairing.isAllowed('web', 'other', 'a')).toBe(false);
      expect(await told('a')).toEqual(['C1', 'welcome']);
    });

    it("[U02] removes a person's requests when they have gained access by other means", async () => {
      await ask('a', 'C1');
      await ask('a', 'C2', 0, 'other');
      await ask('b', 'C3');
      await store.pairing.settle('web', 'a');
      expect(await store.pairing.pending(1)).toMatchObject([{ code: 'C3', senderId: 'b' }]);
      expect(await store.pairing.isAllowed('web', 'default', 'a')).toBe(false);
    });

    it('[F05] ignores a refused sender until the code expires, and lets another stranger ask', async () => {
      for (const id of ['a', 'b', 'c']) await ask(id, `C${id}`);
      expect(await store.pairing.refuse('Cb', 1)).toMatchObject({ senderId: 'b' });
      expect(await store.pairing.refuse('Cb', 2)).toBeNull();
      expect(await ask('b', 'C2', 3)).toBe('known');
      expect(await ask('d', 'Cd', 3)).toBe('new');
      expect(await ask('e', 'Ce', 3)).toBe('full');
      expect((await store.pairing.pending(4)).map(({ senderId }) => senderId).toSorted()).toEqual([
        'a',
        'c',
        'd',
      ]);
      expect(await told('b')).toEqual(['Cb']);
      expect(await store.pairing.isAllowed('web', 'default', 'b')).toBe(false);
      expect(await store.pairing.approve('Cb', () => [], 5)).toMatchObject({ senderId: 'b' });
      expect(await store.pairing.refuse('Ca', HOUR)).toBeNull();
    });

    it('[F05] runs /pair once, however often it is delivered', async () => {
      await ask('a', 'C1');
      const pair = () => store.inbox.command(createMessage('m1'), (command) => command.pair('C1'));
      expect(await pair()).toMatchObject({ approved: { senderId: 'a' }, pending: [] });
      expect(await pair()).toBeNull();
    });

    it('finds the direct chat in which an owner last wrote', async () => {
      expect(await store.inbox.ownerRoute()).toBeNull();
      await store.inbox.accept({ ...createMessage('m1', 'c1'), fromOwner: true });
      await store.inbox.accept({ ...createMessage('m2', 'c2'), fromOwner: true });
      await store.inbox.accept(createMessage('m3', 'c3'));
      expect(await store.inbox.ownerRoute()).toMatchObject({ route: { chatId: 'c2' } });
    });
  });
}

const session = (id: string, usedAt: number): PageSession => ({
  ...{ id, hash: `hash of ${id}`, openedWith: 'token', userAgent: 'Firefox 🦊' },
  ...{ network: 'local-network', createdAt: 10, usedAt, expiresAt: usedAt + 100 },
});

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`page sessions on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
      for (const one of [session('a', 20), session('b', 50)]) await store.pageSessions.open(one);
    });
    afterAll(() => database.dispose());

    it('[U03] finds sessions until they expire, most recently used first', async () => {
      expect(await store.pageSessions.list(119)).toEqual([session('b', 50), session('a', 20)]);
      expect(await store.pageSessions.find('a', 119)).toEqual(session('a', 20));
      expect(await store.pageSessions.find('a', 120)).toBeNull();
      expect(await store.pageSessions.list(120)).toEqual([session('b', 50)]);
    });

    it('[U03] extends a session with each use, and never shortens it because another gateway reports an earlier use', async () => {
      await store.pageSessions.use({ id: 'a', usedAt: 60, expiresAt: 160 });
      await store.pageSessions.use({ id: 'a', usedAt: 55, expiresAt: 155 });
      expect(await store.pageSessions.find('a', 159)).toMatchObject({ usedAt: 60 });
      await store.pageSessions.use({ id: 'gone', usedAt: 60, expiresAt: 160 });
      expect(await store.pageSessions.find('gone', 60)).toBeNull();
    });

    it('[U03] ends one session, or all of them', async () => {
      expect(await store.pageSessions.end('none')).toBe(0);
      expect(await store.pageSessions.end('a')).toBe(1);
      expect(await store.pageSessions.find('a', 30)).toBeNull();
      await store.pageSessions.open(session('c', 50));
      expect(await store.pageSessions.end('all')).toBe(2);
      expect(await store.pageSessions.list(0)).toEqual([]);
    });

    it('[U03] removes expired sessions when the next session is opened', async () => {
      await agesCountedTo(130);
      await store.pageSessions.open({ ...session('d', 130), createdAt: 130 });
      expect((await store.pageSessions.list(0)).map(({ id }) => id)).toEqual(['d', 'b']);
    });

    it('[D15] keeps sessions when the clock was temporarily ahead, even if someone signed in during that time', async () => {
      await agesCountedTo(20);
      await store.pageSessions.open({ ...session('d', 9_000), createdAt: 9_000 });
      expect(await store.pageSessions.find('a', 9_000)).toBeNull();
      expect(await store.pageSessions.find('a', 20)).toMatchObject({ id: 'a' });
    });

    const agesCountedTo = async (now: number) => {
      const forever = Number.POSITIVE_INFINITY;
      const ages = { messages: forever, history: forever, decisions: forever };
      await store.retention.run(
        { ages: { ...ages, prompts: forever, spend: forever }, bytes: forever },
        { clock: () => now, countFrom: now, pause: async () => true },
      );
    };
  });
}
