import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Lease } from '../rows.ts';
import type { Store } from '../store.ts';
import { bothDatabases } from '../testing/databases.ts';
import { answer, claim, hold, message, part } from '../testing/messages.ts';

const CHAT = { conversationId: 'web:c1', session: 0 };
const SECRET = 'amaranth';

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`forgetting on ${database.name}`, () => {
    let store: Store;
    let lease: Lease;
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept({ ...message('m1'), fromOwner: true });
      lease = await hold(store);
      await claim(store, lease, 't1');
    });
    afterAll(() => database.dispose());

    const forget = () =>
      store.forgetting.forget({
        conversations: [CHAT.conversationId],
        ownersToo: false,
        words: [SECRET],
        mark: '[forgotten]',
      });

    it('[G15] reaches to-dos, tasks that were handed on and questions for a yes', async () => {
      await store.todos.replace(CHAT, [{ text: `buy ${SECRET}`, state: 'open' }], 1);
      const words = { title: `${SECRET} one`, task: `look for Amaranth`, words: 'begin' } as const;
      const order = { id: 'a', callId: 'c', turnId: 't1', reader: 'owner', ...words } as const;
      await store.subAgents.start(order, { depth: 2, atOnce: 3 }, 2);
      const question = {
        code: 'ABC234',
        turnId: 't1',
        callKey: 't1.0.0',
        tool: 'write',
        shown: `{"text":"${SECRET}"}`,
        askedBy: 'web:u1',
        place: 'web c1',
        askedIn: 'web:c1',
        approvers: ['web:u1'],
        expiresAt: 1_000,
      };
      await store.approvals.ask(lease, question, [part(`May I? ${SECRET}`)], 3);

      const forgotten = await forget();

      expect(forgotten).toMatchObject({ pins: 3, answers: 1 });
      expect(await store.todos.of(CHAT)).toEqual([{ text: 'buy [forgotten]', state: 'open' }]);
      const run = await store.subAgents.of('sub:a');
      const asked = await store.approvals.recent(9);
      expect(JSON.stringify([run, asked])).not.toMatch(/amaranth/i);
      expect(JSON.stringify([run, asked])).toContain('[forgotten]');
    });

    it('[G15] leaves what others said alone, and finds nothing the second time', async () => {
      await store.inbox.accept(message('other', 'c2'));
      await store.lanes.commit(lease, answer('t1', [`all about ${SECRET}`]), 4);
      expect((await forget()).answers).toBe(1);
      expect(await forget()).toEqual({
        history: 0,
        messages: 0,
        answers: 0,
        steps: 0,
        pins: 0,
        prompts: 0,
        copies: 0,
      });
    });
  });
}
