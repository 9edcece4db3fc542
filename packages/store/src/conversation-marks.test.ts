import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { ConversationMarkChange } from './conversation-marks.ts';
import type { Store } from './store.ts';
import { listBothDatabases } from './testing/databases.ts';
import { createAnswer, createMessage, startTurn } from './testing/messages.ts';

const NOTHING = { pinned: [], archived: [], titles: {}, unread: [] };

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`a person's inbox on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
      for (const chat of ['c1', 'c2', 'c3']) await say('m1', chat);
    });
    afterAll(() => database.dispose());

    /** A message in a Telegram chat counts as news, because other people write there. */
    const say = (id: string, chatId: string) => {
      const one = createMessage(id, chatId);
      const channel = 'telegram';
      return store.inbox.accept({
        ...one,
        route: { ...one.route, channel },
        message: { ...one.message, channel },
      });
    };
    const mark = (chat: string, change: ConversationMarkChange, reader = '') =>
      store.conversationMarks.change(reader, `web:${chat}`, change);
    const begin = (more = {}, reader = '') =>
      store.conversationMarks.begin(reader, { ...NOTHING, ...more });
    const list = (reader: string | null = '') =>
      store.conversations.list({ before: null, limit: 9, reader });
    const unread = async (reader = '') =>
      (await list(reader)).filter(({ isNew }) => isNew).map(({ chatId }) => chatId);

    it('[U12] stores titles, pins and archived chats per person, for all of their devices', async () => {
      await mark('c1', { kind: 'rename', title: 'Harbor' });
      await mark('c1', { kind: 'pin', to: true });
      await mark('c2', { kind: 'archive', to: true });
      await mark('c2', { kind: 'pin', to: true }, 'Bo');
      const c1 = { id: 'web:c1', title: 'Harbor', isPinned: true, isArchived: false };
      const c2 = { id: 'web:c2', title: null, isPinned: false, isArchived: true };
      expect((await store.conversationMarks.of('')).marks).toEqual([c2, c1]);
      expect((await store.conversationMarks.of('Bo')).marks).toEqual([
        { ...c2, isPinned: true, isArchived: false },
      ]);
      const pinned = await store.conversations.pinned('');
      expect(pinned.map(({ id, name }) => [id, name])).toEqual([['web:c1', 'Harbor']]);
      await mark('c1', { kind: 'rename', title: null });
      await mark('c1', { kind: 'pin', to: false });
      expect((await store.conversationMarks.of('')).marks).toEqual([c2]);
      expect(await mark('nowhere', { kind: 'pin', to: true })).toBe(false);
    });

    it("[U12] counts messages after the first visit as unread until one of the person's devices has shown them", async () => {
      expect(await unread()).toEqual([]);
      await begin();
      expect(await unread()).toEqual([]);
      await say('m2', 'c1');
      await say('m2', 'c2');
      expect(await unread()).toEqual(['c2', 'c1']);
      const [{ newest } = { newest: 0 }] = (await list()).filter(({ chatId }) => chatId === 'c1');
      await say('m3', 'c1');
      await mark('c1', { kind: 'read', upTo: { message: newest, part: 0 } });
      expect(await unread()).toEqual(['c1', 'c2']);
      await mark('c1', { kind: 'read', upTo: null });
      // A device that was asleep reports an older message.
      await mark('c1', { kind: 'read', upTo: { message: newest, part: 0 } });
      expect(await unread()).toEqual(['c2']);
      await mark('c1', { kind: 'unread' });
      expect(await unread()).toEqual(['c1', 'c2']);
      expect(await unread('Bo')).toEqual([]);
      expect((await list(null)).some(({ isNew }) => isNew)).toBe(false);
    });

    it("[U12] never moves the read position back, even if another tab's request arrives late", async () => {
      const [{ newest: first } = { newest: 0 }] = await list();
      await say('m2', 'c3');
      await begin();
      const readUpTo = (message: number) =>
        mark('c3', { kind: 'read', upTo: { message, part: 0 } });
      // The person started using the inbox after that tab had shown the chat.
      await readUpTo(first);
      expect(await unread()).toEqual([]);
      const seqs: number[] = [];
      for (let nth = 3; nth < 10; nth += 1) {
        await say(`m${nth}`, 'c3');
        seqs.push((await list())[0]?.newest ?? 0);
      }
      // Simultaneous requests, repeated until one can overtake another.
      for (let round = 0; round < 12; round += 1) {
        await Promise.all([...seqs, ...seqs.toReversed()].map(readUpTo));
        expect(await unread()).toEqual([]);
        await mark('c3', { kind: 'unread' });
      }
      await readUpTo(first);
      expect(await unread()).toEqual(['c3']);
    });

    it('[U12] counts only answers as unread in web chats, because the reader wrote the other messages', async () => {
      await store.inbox.accept(createMessage('p1', 'page'));
      await begin();
      await store.inbox.accept(createMessage('p2', 'page'));
      expect(await unread()).toEqual([]);
      const { lease } = await startTurn(store, 't1', 'web:page');
      await store.lanes.commit(lease, createAnswer('t1', ['An answer'], 'page'), 5);
      expect(await unread()).toEqual(['page']);
      await mark('page', { kind: 'read', upTo: null });
      expect(await unread()).toEqual([]);
    });

    it("[U12] imports a browser's stored marks once, without overwriting later changes", async () => {
      await mark('c1', { kind: 'rename', title: 'Harbor' });
      await begin({
        pinned: ['web:c1', 'gone'],
        archived: ['web:c2'],
        titles: { 'web:c1': 'Old', 'web:c3': 'Three', gone: 'x' },
        unread: ['web:c3', 'gone'],
      });
      expect((await store.conversationMarks.of('')).marks).toEqual([
        { id: 'web:c3', title: 'Three', isPinned: false, isArchived: false },
        { id: 'web:c2', title: null, isPinned: false, isArchived: true },
        { id: 'web:c1', title: 'Harbor', isPinned: true, isArchived: false },
      ]);
      expect(await unread()).toEqual(['c3']);
      await mark('c3', { kind: 'read', upTo: null });
      await begin({ unread: ['web:c3'] });
      expect(await unread()).toEqual([]);
    });

    it("[G15] [U12] forgets a conversation's title together with its text", async () => {
      await mark('c1', { kind: 'rename', title: 'About amaranth' });
      const phrases = ['amaranth'];
      const words = { conversations: ['web:c1'], ownersToo: false, phrases };
      await store.forgetting.forget(words);
      const [{ title } = { title: '' }] = (await store.conversationMarks.of('')).marks;
      expect(title).toBe('About [forgotten]');
    });
  });
}
