import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { IndexedMemory } from './memory-index.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createMessage } from './testing/messages.ts';

const MEMORY: IndexedMemory = {
  ...{ file: 'MEMORY.md', id: 'm1', type: 'fact', scope: 'user', person: null, words: 'person' },
  ...{ savedOn: null, channel: null, chatId: null, messageId: null },
};

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`the data of several agents on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    /** A message from an owner to an agent. */
    const owned = (id: string, conversationId: string, text: string) => {
      const said = createMessage(id, 'chat', {});
      return store.inbox.accept({
        ...{ ...said, conversationId, fromOwner: true },
        message: { ...said.message, text, messageId: id },
      });
    };

    it("[F14] [G14] keeps each agent's memories separate, even in files with the same name", async () => {
      const desk = store.ofAgent('desk').memories;
      await store.memories.add(MEMORY);
      await desk.add({ ...MEMORY, id: 'm2' });
      expect((await desk.list()).map(({ id, file }) => [id, file])).toEqual([['m2', 'MEMORY.md']]);
      await desk.rebuild([], ['MEMORY.md']);
      expect(await desk.list()).toEqual([]);
      expect((await store.memories.list()).map(({ id }) => id)).toEqual(['m1']);
    });

    it('[F14] [G15] forgets what owners wrote to one agent, without touching other agents', async () => {
      await owned('a', 'web:c', 'the heron flies');
      await owned('b', '@desk/web:c', 'the heron sleeps');
      const all = { conversations: [], ownersToo: true, phrases: ['heron'] };
      await store.ofAgent('desk').forgetting.forget(all);
      const texts = async () =>
        (await store.inbox.ownerChats()).map(({ message: { text } }) => text).sort();
      expect((await store.inbox.recent(PLACE, 9)).map((row) => row.message.text)).toEqual([
        'the heron flies',
        'the [forgotten] sleeps',
      ]);
      expect(await texts()).toEqual(['the [forgotten] sleeps']);
      const person = { persons: [], ownersToo: true, only: null, now: 1 };
      const nobody = { onStopped() {}, retell: () => ({ text: '' }) };
      await store.forgetting.forgetPerson({ ...person, ...nobody });
      expect((await store.inbox.recent(PLACE, 9)).map((row) => row.message.text)).toEqual([
        '[forgotten]',
        'the [forgotten] sleeps',
      ]);
    });

    it("[F05] [F14] finds the chat in which each agent's owner last wrote", async () => {
      await owned('a', 'web:c', 'hello');
      expect(await store.inbox.ownerRoute('desk')).toBeNull();
      await owned('b', '@desk/web:c', 'hello');
      expect(await store.inbox.ownerRoute('desk')).not.toBeNull();
      expect(await store.inbox.ownerRoute()).not.toBeNull();
    });
  });
}

const PLACE = { channel: 'web', account: 'default', chatId: 'chat' };
