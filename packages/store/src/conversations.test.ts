import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { ConversationMode } from './rows.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createAnswer, createMessage, startTurn } from './testing/messages.ts';

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`conversation modes on ${database.name}`, () => {
    let store: Store;
    let made: number;
    beforeEach(async () => {
      made = 0;
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const change = async (to: ConversationMode | null) => {
      made += 1;
      return store.inbox.command(createMessage(`k${made}`), (command) => command.changeMode(to));
    };
    const run = async (plan: string | null = null) => {
      made += 1;
      const typed = {
        ...createMessage(`k${made}`),
        message: { ...createMessage(`k${made}`).message, text: '/run' },
      };
      return store.inbox.command(typed, (command) => command.runPlan(plan, 'Run it.'));
    };
    const answerNext = async (turnId: string, isPlan = true) => {
      const { lease, turn } = await startTurn(store, turnId);
      await store.lanes.commit(lease, { ...createAnswer(turnId, ['the plan']), isPlan }, 11);
      await store.lanes.release(lease);
      return turn;
    };
    const planned = async (turnId = 't1') => {
      await change('plan');
      await store.inbox.accept(createMessage(`m${turnId}`));
      return answerNext(turnId);
    };

    it('[G04] starts conversations in agent mode, and keeps a chosen mode after /new', async () => {
      expect(await change(null)).toMatchObject({ now: 'agent' });
      expect(await change('ask')).toEqual({ before: 'agent', now: 'ask' });
      await store.inbox.command(createMessage('n'), (command) => command.startSession());
      expect(await change(null)).toMatchObject({ now: 'ask' });
      await store.inbox.accept(createMessage('m1'));
      expect(await answerNext('t1', false)).toMatchObject({ mode: 'ask' });
    });

    it('[G04] [G05] does not run a plan if the mode was changed after the plan was written', async () => {
      await planned();
      for (const mode of ['agent', 'ask', 'plan', 'agent'] as const) await change(mode);
      expect(await store.inbox.waiting('web:c1')).toBe(0);
      expect(await store.lanes.withWork(9, 10_000)).toEqual([]);
    });

    it.each([null, 't1'])(
      '[G04] runs a plan only once, in agent mode, when two commands name plan %s',
      async (plan) => {
        await planned();
        const both = await Promise.all([run(plan), run(plan)]);
        expect(both.toSorted()).toEqual(['runs', 'was-run']);
        expect(await answerNext('t2', false)).toMatchObject({
          mode: 'agent',
          messages: [{ message: { text: 'Run it.', typed: '/run' } }],
        });
        expect(await run(plan)).toBe('was-run');
        await store.inbox.accept(createMessage('later'));
        await answerNext('t3', false);
        expect(await run(plan)).toBe('was-run');
        expect(await store.inbox.waiting('web:c1')).toBe(0);
      },
    );

    it('[G04] runs a plan only once when the same button press arrives twice', async () => {
      await planned();
      const press = () =>
        store.inbox.command(createMessage('press'), (command) => command.runPlan('t1', 'Run it.'));
      expect(await press()).toBe('runs');
      expect(await press()).toBeNull();
      expect(await store.inbox.waiting('web:c1')).toBe(1);
    });

    it.each<[string, () => Promise<unknown>]>([
      ['a message waits', () => store.inbox.accept(createMessage('newer'))],
      [
        'a message was answered',
        async () => {
          await store.inbox.accept(createMessage('newer'));
          await answerNext('t2', false);
        },
      ],
      ['there is a newer plan', () => planned('t2')],
      ['/new', () => store.inbox.command(createMessage('n'), (command) => command.startSession())],
      ['/stop', () => store.inbox.command(createMessage('s'), (command) => command.stop())],
    ])('[G04] does not run a plan when %s', async (_when, happens) => {
      await planned();
      await happens();
      const before = await store.inbox.waiting('web:c1');
      expect(await run('t1')).toBe('none');
      expect(await store.inbox.waiting('web:c1')).toBe(before);
    });

    it('[G04] runs the newest plan if the command names none, and does nothing if there is no plan', async () => {
      expect(await run()).toBe('none');
      await store.inbox.accept(createMessage('m0'));
      await answerNext('t0', false);
      expect(await run()).toBe('none');
      await planned('t1');
      await planned('t2');
      expect(await run()).toBe('runs');
    });
  });
}
