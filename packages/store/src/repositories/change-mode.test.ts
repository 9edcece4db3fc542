import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { ConversationMode } from '../modes.ts';
import type { Store } from '../store.ts';
import { bothDatabases } from '../testing/databases.ts';
import { answer, claim, hold, message } from '../testing/messages.ts';

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`modes on ${database.name}`, () => {
    let store: Store;
    let made: number;
    beforeEach(async () => {
      made = 0;
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const change = async (to: ConversationMode | null, { at = 5 } = {}) => {
      made += 1;
      const effect = { kind: 'mode', to, planWords: 'Run it.' } as const;
      return (await store.inbox.command(message(`k${made}`, 'c1', { at }), effect, () => [])).mode;
    };
    const answerNext = async (turnId: string, at: number) => {
      await store.inbox.accept(message(`m${turnId}`));
      const lease = await hold(store);
      const turn = await claim(store, lease, turnId);
      await store.lanes.commit(lease, answer(turnId, ['the plan']), at);
      await store.lanes.release(lease);
      return turn;
    };

    it('[G04] a conversation begins as an agent, and keeps what it is set to beyond /new', async () => {
      expect(await change(null)).toMatchObject({ now: 'agent' });
      expect(await change('ask')).toEqual({ before: 'agent', now: 'ask', runsPlan: false });
      await store.inbox.command(message('n'), { kind: 'new-session' }, () => []);
      expect(await change(null)).toMatchObject({ now: 'ask' });
      expect(await answerNext('t1', 6)).toMatchObject({ mode: 'ask' });
    });

    it('[G04] the command that lets a plan run is the message that runs it, once', async () => {
      await change('plan', { at: 10 });
      await answerNext('t1', 11);
      expect(await change('agent', { at: 12 })).toMatchObject({ runsPlan: true });
      const turn = await claim(store, await hold(store), 't2');
      expect(turn).toMatchObject({ mode: 'agent', messages: [{ message: { text: 'Run it.' } }] });
      expect(await change('agent', { at: 13 })).toMatchObject({ runsPlan: false });
      expect(await store.inbox.waiting('web:c1')).toBe(0);
    });

    it('[G04] without a plan there is nothing to run', async () => {
      await answerNext('t1', 9);
      await change('plan', { at: 10 });
      expect(await change('agent', { at: 12 })).toMatchObject({ runsPlan: false });
      await change('plan', { at: 13 });
      await answerNext('t2', 14);
      await store.inbox.command(message('n'), { kind: 'new-session' }, () => []);
      expect(await change('agent', { at: 15 })).toMatchObject({ runsPlan: false });
      expect(await store.inbox.waiting('web:c1')).toBe(0);
    });
  });
}
