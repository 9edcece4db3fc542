import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { PostRequest } from './outbox-parts.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createAnswer, createMessage, createPart, startTurn } from './testing/messages.ts';

const C2 = { channel: 'web', account: 'default', chatId: 'c2' };
const C3 = { ...C2, chatId: 'c3' };

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`posts on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const post = (key: string, more: Partial<PostRequest> = {}) =>
      store.outbox.post(
        { key, parts: [createPart('hello', 'c2'), createPart('again', 'c2')], ...more },
        1,
      );
    const sent = async (chat = C2) =>
      (await store.outbox.recent(chat, 50)).map((entry) => entry.part.body.text);
    const begin = async () => {
      await store.inbox.accept(createMessage('1'));
      const { lease } = await startTurn(store, 't1');
      return lease;
    };

    it('[D04] writes a post once per key, even if another process repeats it for another destination', async () => {
      expect(await post('k1')).toEqual({ kind: 'posted', chat: C2 });
      const elsewhere = [
        createPart('hello', 'c3'),
        createPart('a', 'c3'),
        createPart('third', 'c3'),
      ] as const;
      expect(await post('k1', { parts: [...elsewhere] })).toEqual({ kind: 'known', chat: C2 });
      expect(await post('k2')).toEqual({ kind: 'posted', chat: C2 });
      expect(await sent()).toEqual(['hello', 'again', 'hello', 'again']);
      expect(await sent(C3)).toEqual([]);
    });

    it('[D04] writes a post once if it arrives twice at the same moment', async () => {
      const results = await Promise.all(Array.from({ length: 8 }, () => post('k')));
      expect(results.filter(({ kind }) => kind === 'posted')).toHaveLength(1);
      expect(await sent()).toEqual(['hello', 'again']);
    });

    it("[G16] excludes a turn's posts from its answer, and does not repeat them when the turn runs again", async () => {
      const lease = await begin();
      const turn = { id: 't1', most: 2 };
      expect((await post('t1.0.0', { turn })).kind).toBe('posted');
      expect((await post('t1.0.0', { turn })).kind).toBe('known');
      expect((await post('t1.0.1', { turn })).kind).toBe('posted');
      expect((await post('t1.0.2', { turn })).kind).toBe('too-many');
      expect((await post('t1.0.0', { turn })).kind).toBe('known');
      expect(await store.lanes.commit(lease, createAnswer('t1', ['done']), 2)).toBe('committed');
      const [posted] = await store.outbox.recent(C2, 1);
      expect(posted?.part).toMatchObject({ turnId: null, index: null });
      const [told] = await store.outbox.recent({ ...C2, chatId: 'c1' }, 1);
      expect(told?.part).toMatchObject({ turnId: 't1', index: 0 });
    });

    it('[D04] keeps the last part of an answer recognizable, even after the earlier parts are sent', async () => {
      const lease = await begin();
      await store.lanes.commit(lease, createAnswer('t1', ['one', 'two']), 2);
      const chat = { ...C2, chatId: 'c1' };
      const first = await store.outbox.next(chat);
      expect(first?.part).toMatchObject({ index: 0, isLast: false });
      await store.outbox.markSending(first?.part.id ?? '', 3);
      await store.outbox.markSent(first?.part.id ?? '', 'p', 3);
      expect((await store.outbox.next(chat))?.part).toMatchObject({ index: 1, isLast: true });
    });

    it('[G01] refuses posts of a turn that was stopped, has ended, or belongs to an earlier session', async () => {
      const turn = { id: 't1', most: 5 };
      expect((await post('none', { turn })).kind).toBe('over');
      await begin();
      await store.inbox.command(createMessage('new'), (command) => command.startSession());
      expect((await post('a', { turn })).kind).toBe('over');
      await store.inbox.command(createMessage('stop'), (command) => command.stop());
      expect((await post('b', { turn })).kind).toBe('over');
      expect(await sent()).toEqual([]);
    });

    it('[D05] tells the agent about posts that finally fail, in the history of their turn', async () => {
      const lease = await begin();
      await post('t1.0.0', { turn: { id: 't1', most: 5 } });
      await store.lanes.commit(lease, createAnswer('t1', ['done']), 2);
      const next = await store.outbox.next(C2);
      await store.outbox.markSending(next?.part.id ?? '', 3);
      await store.outbox.markFailed(next?.part.id ?? '', 'failed', 'kicked out', 4, null);
      const history = await store.transcript.recent('web:c1', 0, 10);
      expect(history.map(({ undelivered }) => undelivered)).toEqual(['kicked out']);
    });
  });
}
