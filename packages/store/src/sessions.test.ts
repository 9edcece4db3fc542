import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { SummaryTask, TodoItem } from './sessions.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createAnswer, createMessage, startTurn } from './testing/messages.ts';

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`session snapshots on ${database.name}`, () => {
    let store: Store;
    const place = (session: number, chat = 'a') => ({ conversationId: `web:${chat}`, session });
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept(createMessage('1', 'a'));
      await store.inbox.accept(createMessage('1', 'b'));
    });
    afterAll(() => database.dispose());

    it('[S07] keeps the first value of each snapshot', async () => {
      expect(await store.pins.fix(place(0), 'skills', { names: ['a'] }, 1)).toEqual({
        names: ['a'],
      });
      expect(await store.pins.fix(place(0), 'skills', { names: [] }, 2)).toEqual({ names: ['a'] });
    });

    it('[S07] accepts a value from only one of two turns that run at the same moment', async () => {
      const [one, two] = await Promise.all(
        ['x', 'y'].map((value) => store.pins.fix(place(0), 'persona', value, 1)),
      );
      expect(one).toBe(two);
    });

    it('[S07] stores separate snapshots for each key, session and conversation', async () => {
      await store.pins.fix(place(0), 'skills', 'first', 1);
      expect(await store.pins.fix(place(0), 'persona', 'second', 1)).toBe('second');
      expect(await store.pins.fix(place(0, 'b'), 'skills', 'third', 1)).toBe('third');
      expect(await store.pins.fix(place(1), 'skills', 'fourth', 1)).toBe('fourth');
    });

    const claimed = async () => {
      const work = { conversationId: 'web:a', owner: 'w', leaseMs: 10_000 };
      const begun = await store.lanes.begin(work, 'collect', 't1', 2);
      if (begun.kind !== 'turn') throw new Error(`no turn: ${begun.kind}`);
      return begun;
    };

    it('[G02] [P09] gives a turn the tool groups of its session, in the order in which they were opened', async () => {
      await store.pins.addOpenTools(place(0), ['web'], 1);
      await store.pins.addOpenTools(place(0), ['schedule', 'web'], 1);
      await store.pins.addOpenTools(place(0, 'b'), ['soul'], 1);
      const { turn, lease } = await claimed();
      expect(turn.openToolGroups).toEqual(['web', 'schedule']);
      await store.lanes.release(lease);
      const resumed = await claimed();
      expect(resumed.turn).toMatchObject({ resumed: true, openToolGroups: ['web', 'schedule'] });
    });

    it('[G02] gives a turn no tool groups of another session', async () => {
      await store.pins.addOpenTools(place(1), ['web'], 1);
      expect((await claimed()).turn.openToolGroups).toBeUndefined();
    });
  });
}

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`summaries on ${database.name}`, () => {
    let store: Store;
    const place = { conversationId: 'web:c1', session: 0, reader: 'owner' };
    const task: SummaryTask = { ...place, kind: 'history', mark: '0' };
    const claimed = { by: 'one', now: 0, claimMs: 10, impatient: false };
    const content = { facts: ['a'] };
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept(createMessage('1'));
    });
    afterAll(() => database.dispose());

    it('[G11] are written once when two processes claim the same one simultaneously', async () => {
      const both = ['one', 'two'].map((by) => store.summaries.claim(task, { ...claimed, by }));
      expect((await Promise.all(both)).toSorted()).toEqual([false, true]);
    });

    it("[G11] can be claimed by another process once a claim has expired, and the first claimant's result is rejected", async () => {
      await store.summaries.claim(task, claimed);
      expect(await store.summaries.latest(place)).toBeNull();
      const later = { ...claimed, by: 'two', now: 10 };
      database.setTime(9);
      expect(await store.summaries.claim(task, later)).toBe(false);
      database.setTime(10);
      expect(await store.summaries.claim(task, later)).toBe(true);
      expect(await store.summaries.finish(task, 'one', { content, reaches: 4 })).toBe(false);
      expect(await store.summaries.finish(task, 'two', { content, reaches: 5 })).toBe(true);
      expect(await store.summaries.latest(place)).toEqual({ content, reaches: 5 });
      database.setTime(99);
      expect(await store.summaries.claim(task, { ...later, impatient: true })).toBe(false);
    });

    it('[G11] can be tried again some time after a failure, or immediately if a person asks', async () => {
      await store.summaries.claim(task, claimed);
      const impatient = { ...claimed, by: 'two', impatient: true };
      expect(await store.summaries.claim(task, impatient)).toBe(false);
      await store.summaries.postpone(task, 'one', 100);
      database.setTime(99);
      expect(await store.summaries.claim(task, claimed)).toBe(false);
      expect(await store.summaries.claim(task, impatient)).toBe(true);
    });

    it('[G11] can be claimed if the clock was set back by more than the longest claim', async () => {
      database.setTime(60 * 60_000);
      await store.summaries.claim(task, claimed);
      database.setTime(0);
      expect(await store.summaries.claim(task, { ...claimed, by: 'two' })).toBe(true);
    });

    it('[G11] [G16] can be claimed again after a restart if no other process is running', async () => {
      await store.summaries.claim(task, claimed);
      await store.summaries.releaseAll();
      const later = { ...claimed, by: 'two', now: 1 };
      expect(await store.summaries.claim(task, later)).toBe(true);
      expect(await store.summaries.finish(task, 'one', { content, reaches: 4 })).toBe(false);
      await store.summaries.finish(task, 'two', { content, reaches: 5 });
      await store.summaries.releaseAll();
      database.setTime(99);
      expect(await store.summaries.claim(task, later)).toBe(false);
    });

    it('[G11] [W02] are stored separately for each kind of reader, session, conversation and day', async () => {
      const write = async (one: SummaryTask, reaches: number) => {
        await store.summaries.claim(one, claimed);
        await store.summaries.finish(one, 'one', { content, reaches });
      };
      await write({ ...task, mark: '5' }, 9);
      await write(task, 5);
      await write({ ...task, kind: 'day', mark: '2026-11-20' }, 50);
      expect(await store.summaries.latest(place)).toMatchObject({ reaches: 9 });
      expect(await store.summaries.latest({ ...place, reader: 'guest' })).toBeNull();
      expect(await store.summaries.latest({ ...place, session: 1 })).toBeNull();
      expect(await store.summaries.ofDay(place, '2026-11-20')).toMatchObject({ reaches: 50 });
      expect(await store.summaries.ofDay(place, '2026-11-21')).toBeNull();
    });

    it('[G11] are based on history that can be read from either end and by time', async () => {
      const { lease } = await startTurn(store, 't1');
      await store.lanes.commit(lease, createAnswer('t1', ['a', 'b', 'c']), 7);
      const words = (entries: readonly { readonly content: unknown }[]) =>
        entries.map((entry) => entry.content);
      const all = await store.transcript.oldestAfter(place, 0, 9);
      expect(words(all)).toEqual(['a', 'b', 'c']);
      const first = all[0]?.seq ?? 0;
      expect(words(await store.transcript.oldestAfter(place, first, 1))).toEqual(['b']);
      expect(words(await store.transcript.newestAfter(place, first, 1))).toEqual(['c']);
      expect(words(await store.transcript.newestAfter(place, first, 9))).toEqual(['b', 'c']);
      expect(words(await store.transcript.saidBetween(place, 7, 8, 2))).toEqual(['b', 'c']);
      expect(await store.transcript.saidBetween(place, 0, 7, 9)).toEqual([]);
      const behind = await store.transcript.messagesBehind(place, first, first);
      expect(behind.map((row) => row.message.messageId)).toEqual(['1']);
      expect(await store.transcript.messagesBehind(place, first + 3, first + 9)).toEqual([]);
    });
  });
}

const item = (text: string): TodoItem => ({ text, state: 'open' });

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`a session's to-do list on ${database.name}`, () => {
    let store: Store;
    const place = (session: number, chat = 'a') => ({ conversationId: `web:${chat}`, session });
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept(createMessage('1', 'a'));
      await store.inbox.accept(createMessage('1', 'b'));
    });
    afterAll(() => database.dispose());

    it('[G12] contains the items last written in that conversation', async () => {
      await store.todos.replace(place(0), [item('one'), item('two')], 1);
      await store.todos.replace(place(0), [{ text: 'two', state: 'done' }], 2);
      await store.todos.replace(place(0, 'b'), [item('three')], 3);
      expect(await store.todos.of(place(0))).toEqual([{ text: 'two', state: 'done' }]);
      expect(await store.todos.of(place(0, 'b'))).toEqual([item('three')]);
    });

    it("[G12] belongs to the conversation's current session", async () => {
      await store.todos.replace(place(0), [item('old')], 1);
      expect(await store.todos.now('web:a')).toEqual([item('old')]);
      expect(await store.todos.now('web:b')).toEqual([]);
      await store.inbox.command(createMessage('9', 'a'), (command) => command.startSession());
      expect(await store.todos.now('web:a')).toEqual([]);
    });

    it('[G12] ends with the session, and is not restored by a late turn', async () => {
      await store.todos.replace(place(0), [item('old')], 1);
      expect(await store.todos.of(place(1))).toEqual([]);
      await store.todos.replace(place(1), [item('new')], 2);
      await store.todos.replace(place(0), [item('late')], 3);
      expect(await store.todos.of(place(1))).toEqual([item('new')]);
      expect(await store.todos.of(place(0))).toEqual([]);
    });
  });
}
