import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from './open-store.ts';
import { bothDatabases } from './testing/databases.ts';
import { message } from './testing/messages.ts';

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`what is fixed for a session on ${database.name}`, () => {
    let store: Store;
    const place = (session: number, chat = 'a') => ({ conversationId: `web:${chat}`, session });
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept(message('1', 'a'));
      await store.inbox.accept(message('1', 'b'));
    });
    afterAll(() => database.dispose());

    it('[S07] stays what it was at first', async () => {
      expect(await store.pins.fix(place(0), 'skills', { names: ['a'] }, 1)).toEqual({
        names: ['a'],
      });
      expect(await store.pins.fix(place(0), 'skills', { names: [] }, 2)).toEqual({ names: ['a'] });
    });

    it('[S07] is decided by one of two turns that come at the same moment', async () => {
      const [one, two] = await Promise.all(
        ['x', 'y'].map((value) => store.pins.fix(place(0), 'persona', value, 1)),
      );
      expect(one).toBe(two);
    });

    it('is another thing for another key, session or conversation', async () => {
      await store.pins.fix(place(0), 'skills', 'first', 1);
      expect(await store.pins.fix(place(0), 'persona', 'second', 1)).toBe('second');
      expect(await store.pins.fix(place(0, 'b'), 'skills', 'third', 1)).toBe('third');
      expect(await store.pins.fix(place(1), 'skills', 'fourth', 1)).toBe('fourth');
    });
  });
}
