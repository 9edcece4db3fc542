import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`groups and accounts on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const see = (
      chatId: string,
      seenAt: number,
      title: string | null = null,
      account = 'default',
    ) => store.seenGroups.note({ channel: 'telegram', account, chatId, title, seenAt });

    it('[F05] lists a group once, with its latest title, most recently seen first', async () => {
      await see('-1', 10, 'Family');
      await see('-2', 20, '🦜'.repeat(200));
      await see('-1', 30);
      const [first, second] = await store.seenGroups.list();
      expect(first).toEqual({
        ...{ channel: 'telegram', account: 'default', chatId: '-1' },
        ...{ title: 'Family', seenAt: 30 },
      });
      expect(second?.title).toBe('🦜'.repeat(120));
      await store.seenGroups.forget({ channel: 'telegram', account: 'default', chatId: '-1' });
      expect((await store.seenGroups.list()).map(({ chatId }) => chatId)).toEqual(['-2']);
    });

    it('keeps the last 50 groups of each account', async () => {
      await see('-7', 1, 'other', 'work');
      for (let at = 1; at <= 60; at++) await see(`-${at}`, at);
      const groups = await store.seenGroups.list();
      expect(groups).toHaveLength(51);
      expect(groups.filter(({ account }) => account === 'default').at(-1)?.seenAt).toBe(11);
    });

    it('remembers who first paused an account until it is resumed', async () => {
      const pause = (by: string, since: number) =>
        store.accountPauses.pause({ channel: 'telegram', account: 'default', by, since });
      await pause('the console', 1);
      await pause('the command line', 2);
      expect(await store.accountPauses.list()).toEqual([
        { channel: 'telegram', account: 'default', by: 'the console', since: 1 },
      ]);
      await store.accountPauses.resume('telegram', 'default');
      expect(await store.accountPauses.list()).toEqual([]);
    });
  });
}
