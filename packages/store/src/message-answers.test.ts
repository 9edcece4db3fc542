import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createAnswer, createMessage, startTurn } from './testing/messages.ts';

const KEY = { channel: 'web', account: 'default', chatId: 'c1' };

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(
    `the answer that is reported for a message on ${database.name}`,
    () => {
      let store: Store;
      beforeEach(async () => {
        store = await database.openEmpty();
      });
      afterAll(() => database.dispose());
      const of = (messageId: string) => store.answers.of({ ...KEY, messageId });

      it('[D01] consists of the turn, then of the parts and their cost, until they are sent', async () => {
        expect(await of('m1')).toBeNull();
        await store.inbox.accept(createMessage('m1'));
        expect(await of('m1')).toMatchObject({ outcome: null, turnId: null, parts: [] });
        const { lease } = await startTurn(store, 't1');
        expect(await of('m1')).toMatchObject({ outcome: null, turnId: 't1', isSuspended: false });
        const usage = { model: 'm', inputTokens: 5, outputTokens: 7, costUsd: null };
        await store.lanes.commit(lease, { ...createAnswer('t1', ['one', 'two']), usage }, 1);
        const parts = [
          { text: 'one', isSent: false },
          { text: 'two', isSent: false },
        ];
        expect(await of('m1')).toMatchObject({
          outcome: 'answered',
          usage: { inputTokens: 5, outputTokens: 7, cachedTokens: 0 },
          parts,
        });
        const first = (await store.outbox.next(KEY))?.part.id ?? '';
        await store.outbox.markSending(first, 2);
        expect((await of('m1'))?.parts.map(({ isSent }) => isSent)).toEqual([true, false]);
      });

      it("[F09] consists of a command's answer and the message whose turn the command may continue", async () => {
        await store.inbox.accept(createMessage('m1'));
        await startTurn(store, 't1');
        const route = createMessage('m2').route;
        const said = { route, body: { text: 'Done.', plain: 'Done.' } };
        await store.inbox.command(createMessage('m2'), async (command) => command.answer(said));
        expect(await of('m2')).toMatchObject({
          outcome: 'command',
          parts: [{ text: 'Done.' }],
          pending: 'm1',
        });
      });
    },
  );
}
