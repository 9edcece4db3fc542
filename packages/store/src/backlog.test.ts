import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from './open-store.ts';
import { bothDatabases } from './testing/databases.ts';
import { claim, hold, message, part } from './testing/messages.ts';

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`what is not done yet on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    it('[U03] is nothing where nothing was ever done', async () => {
      expect(await store.backlog.look(5)).toEqual({
        messages: 0,
        conversations: 0,
        turns: 0,
        waiting: [],
        running: [],
        outgoing: [],
      });
    });

    it('[U03] is told by conversation, turn and account, the oldest first', async () => {
      await store.inbox.accept(message('m1', 'c1', { at: 1 }));
      const lease = await hold(store, 'web:c1', 'worker 1', 2);
      await claim(store, lease, 't1');
      await store.inbox.accept(message('m2', 'c1', { at: 9 }));
      for (const id of ['n1', 'n2']) await store.inbox.accept(message(id, 'c2', { at: 4 }));
      await store.outbox.enqueue([part('a'), part('b'), part('c', 'c2')], 6);
      const chat = { channel: 'web', account: 'default', chatId: 'c1' };
      await store.outbox.markSending((await store.outbox.next(chat))?.part.id ?? '', 7);
      expect(await store.backlog.look(5)).toEqual({
        messages: 3,
        conversations: 2,
        turns: 1,
        waiting: [
          { conversationId: 'web:c2', messages: 2, oldestAt: 4 },
          { conversationId: 'web:c1', messages: 1, oldestAt: 9 },
        ],
        running: [
          {
            turnId: 't1',
            conversationId: 'web:c1',
            startedAt: 0,
            attempts: 1,
            owner: 'worker 1',
            leaseUntil: 1_002,
            isSuspended: false,
          },
        ],
        outgoing: [
          { channel: 'web', account: 'default', pending: 2, sending: 1, chats: 2, oldestAt: 6 },
        ],
      });
      expect((await store.backlog.look(1)).waiting).toHaveLength(1);
    });
  });
}
