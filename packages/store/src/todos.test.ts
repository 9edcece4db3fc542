import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from './open-store.ts';
import type { TodoItem } from './sessions.ts';
import { bothDatabases } from './testing/databases.ts';
import { message } from './testing/messages.ts';

const item = (text: string): TodoItem => ({ text, state: 'open' });

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`the to-dos of a session on ${database.name}`, () => {
    let store: Store;
    const place = (session: number, chat = 'a') => ({ conversationId: `web:${chat}`, session });
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept(message('1', 'a'));
      await store.inbox.accept(message('1', 'b'));
    });
    afterAll(() => database.dispose());

    it('[G12] are what was written last, in that conversation alone', async () => {
      await store.todos.replace(place(0), [item('one'), item('two')], 1);
      await store.todos.replace(place(0), [{ text: 'two', state: 'done' }], 2);
      await store.todos.replace(place(0, 'b'), [item('three')], 3);
      expect(await store.todos.of(place(0))).toEqual([{ text: 'two', state: 'done' }]);
      expect(await store.todos.of(place(0, 'b'))).toEqual([item('three')]);
    });

    it('[G12] are those of the session that the conversation is in', async () => {
      await store.todos.replace(place(0), [item('old')], 1);
      expect(await store.todos.now('web:a')).toEqual([item('old')]);
      expect(await store.todos.now('web:b')).toEqual([]);
      await store.inbox.command(message('9', 'a'), { kind: 'new-session' }, () => []);
      expect(await store.todos.now('web:a')).toEqual([]);
    });

    it('[G12] end with the session, and a late turn of it does not bring them back', async () => {
      await store.todos.replace(place(0), [item('old')], 1);
      expect(await store.todos.of(place(1))).toEqual([]);
      await store.todos.replace(place(1), [item('new')], 2);
      await store.todos.replace(place(0), [item('late')], 3);
      expect(await store.todos.of(place(1))).toEqual([item('new')]);
      expect(await store.todos.of(place(0))).toEqual([]);
    });
  });
}
