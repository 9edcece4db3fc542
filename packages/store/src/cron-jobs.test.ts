import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { CronJob, NewCronJob } from './cron-jobs.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createAnswer, createMessage, createTestRoute, startTurn } from './testing/messages.ts';

const HOUR = 3_600_000;
const BOUNDS = { perConversation: 2, total: 3 };

const job = (id: string, more: Partial<NewCronJob> = {}): NewCronJob => ({
  id,
  askedBy: `call for ${id}`,
  conversationId: 'web:c1',
  route: createTestRoute('c1'),
  origin: createMessage('1').message,
  fromOwner: true,
  title: 'water',
  task: 'Remind me to water the plants.',
  timetable: { kind: 'every', ms: HOUR, from: 0 },
  nextAt: HOUR,
  ...more,
});

const reminder = (id: string) => {
  const { message: words, ...rest } = createMessage(id);
  return { ...rest, message: { ...words, trigger: 'cron' as const } };
};

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`cron jobs on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept(createMessage('1'));
      const { lease } = await startTurn(store, 't1');
      await store.lanes.commit(lease, createAnswer('t1', []), 1);
      await store.lanes.release(lease);
    });
    afterAll(() => database.dispose());

    const add = (id: string, more: Partial<NewCronJob> = {}) =>
      store.cronJobs.add(job(id, more), BOUNDS, 5);
    const got = async (id: string): Promise<CronJob> => {
      const found = await store.cronJobs.get(id);
      if (found === null) throw new Error(`no job ${id}`);
      return found;
    };
    const run = async (id: string, outcome: 'answered' | 'failed') => {
      const {
        lease,
        turn: { turnId, messages },
      } = await startTurn(store, `turn ${id}`);
      await store.lanes.commit(lease, { ...createAnswer(turnId, []), outcome }, 9);
      await store.lanes.release(lease);
      return messages.map(({ message: { trigger } }) => trigger);
    };

    it('[H08] adds a cron job once per call, up to a limit', async () => {
      expect(await add('a')).toBe('added');
      expect(await add('b', { askedBy: 'call for a' })).toBe('known');
      expect(await add('c')).toBe('added');
      expect(await add('d')).toBe('full');
      await store.inbox.accept(createMessage('2', 'c2'));
      await store.inbox.accept(createMessage('3', 'c3'));
      expect(await add('e', { conversationId: 'web:c2' })).toBe('added');
      expect(await add('f', { conversationId: 'web:c3' })).toBe('full');
      await store.cronJobs.change('a', { state: 'over' });
      expect(await add('d')).toBe('added');
      const ids = (await store.cronJobs.list('web:c1')).map(({ id }) => id);
      expect(ids).toEqual(['a', 'c', 'd']);
    });

    it("[H08] [D07] counts a guest's jobs across all chats, and leaves capacity for owners", async () => {
      const bounds = { perConversation: 2, total: 20 };
      const by = (id: string, more: Partial<NewCronJob>) => job(id, { fromOwner: false, ...more });
      const { origin } = job('a');
      const results = [];
      for (let nth = 1; nth <= 25; nth += 1) {
        const sender = { ...origin.sender, id: `guest ${Math.ceil(nth / 3)}` };
        const place = { conversationId: `web:c${nth}`, origin: { ...origin, sender } };
        results.push(await store.cronJobs.add(by(`g${nth}`, place), bounds, 5));
      }
      expect(results.slice(0, 6)).toEqual(['added', 'added', 'full', 'added', 'added', 'full']);
      expect(results.slice(-1)).toEqual(['added']);
      const more = by('one more', { origin: { ...origin, sender: { ...origin.sender, id: 'x' } } });
      for (const id of ['h1', 'h2']) {
        const place = { conversationId: `web:${id}`, origin: more.origin };
        results.push(await store.cronJobs.add(by(id, place), bounds, 5));
      }
      expect(results.filter((result) => result === 'added')).toHaveLength(18);
      const own = ['o1', 'o2', 'o3'].map((id) => job(id, { conversationId: `web:${id}` }));
      const kept = [];
      for (const one of own) kept.push(await store.cronJobs.add(one, bounds, 5));
      expect(kept).toEqual(['added', 'added', 'full']);
    });

    it('[H08] does not change jobs when they are read, listed or searched', async () => {
      await add('a');
      const before = await got('a');
      await store.cronJobs.list();
      await store.cronJobs.due(9 * HOUR, 9);
      await store.cronJobs.nextAt();
      expect(await got('a')).toEqual(before);
    });

    it('[H08] starts one turn per due job, even when several processes poll for it', async () => {
      await add('a');
      expect(await store.cronJobs.due(HOUR - 1, 9)).toEqual([]);
      const [due] = await store.cronJobs.due(HOUR, 9);
      if (due === undefined) throw new Error('nothing is due');
      const fired = await Promise.all(
        ['x', 'x2'].map((id) => store.cronJobs.fire(due, reminder(id), 2 * HOUR, HOUR)),
      );
      expect(fired.toSorted()).toEqual([false, true]);
      expect(await store.cronJobs.nextAt()).toBe(2 * HOUR);
      expect(await run('x', 'answered')).toEqual(['cron']);
    });

    it('[H08] marks a one-off job as over once it has started', async () => {
      await add('a', { timetable: { kind: 'once', at: HOUR } });
      expect(await store.cronJobs.fire(await got('a'), reminder('x'), null, HOUR)).toBe(true);
      expect(await got('a')).toMatchObject({ state: 'over', nextAt: null, lastAt: HOUR });
      expect(await store.cronJobs.nextAt()).toBeNull();
    });

    it('[H08] records the outcome of a run only once', async () => {
      await add('a');
      await store.cronJobs.fire(await got('a'), reminder('x'), 2 * HOUR, HOUR);
      expect(await store.cronJobs.unsettled(9)).toEqual([]);
      await run('x', 'failed');
      const [ended] = await store.cronJobs.unsettled(9);
      expect(ended).toMatchObject({ id: 'a', outcome: 'failed', lastAt: HOUR });
      if (ended === undefined) throw new Error('nothing has ended');
      const settle = () =>
        store.cronJobs.settle(ended, 'failed', { failures: 1, nextAt: HOUR + 60_000 });
      expect([await settle(), await settle()]).toEqual([true, false]);
      expect(await store.cronJobs.unsettled(9)).toEqual([]);
      expect(await got('a')).toMatchObject({ failures: 1, lastOutcome: 'failed' });
      expect(await store.cronJobs.nextAt()).toBe(HOUR + 60_000);
    });

    it('[H08] keeps a job paused when a run ends after a person paused it', async () => {
      await add('a');
      await store.cronJobs.fire(await got('a'), reminder('x'), 2 * HOUR, HOUR);
      await run('x', 'failed');
      const [ended] = await store.cronJobs.unsettled(9);
      if (ended === undefined) throw new Error('nothing has ended');
      await store.cronJobs.change('a', { state: 'paused' });
      expect(await store.cronJobs.settle(ended, 'failed', { state: 'on', nextAt: 9 })).toBe(false);
      const [again] = await store.cronJobs.unsettled(9);
      expect(again && (await store.cronJobs.settle(again, 'failed', { failures: 1 }))).toBe(true);
      expect(await got('a')).toMatchObject({ state: 'paused', nextAt: null, failures: 1 });
    });

    it('[H08] finds a job by the call that created it, and lets only one of two processes postpone it', async () => {
      await add('a');
      expect(await store.cronJobs.find('call for a')).toMatchObject({ id: 'a' });
      expect(await store.cronJobs.find('call for b')).toBeNull();
      const a = await got('a');
      const twice = [3, 4].map((hours) => store.cronJobs.postpone(a, hours * HOUR));
      expect((await Promise.all(twice)).toSorted()).toEqual([false, true]);
    });

    it('[H08] [G15] removes forgotten text from jobs but keeps the jobs', async () => {
      await add('a');
      const phrases = ['water the plants'];
      const here = { conversations: ['web:c1'], ownersToo: false, phrases };
      await store.forgetting.forget(here);
      expect(await got('a')).toMatchObject({ task: 'Remind me to [forgotten].', state: 'on' });
    });

    it("[H08] [H04] does not count a job as the owner's own use of the chat", async () => {
      await add('a');
      const mine = { ...createMessage('2', 'c2'), fromOwner: true };
      await store.inbox.accept(mine);
      const due = { ...reminder('x'), fromOwner: true };
      await store.cronJobs.fire(await got('a'), due, 2 * HOUR, HOUR);
      expect((await store.inbox.ownerChats()).map(({ route }) => route.chatId)).toEqual(['c2']);
      expect(await store.inbox.ownerRoute()).toMatchObject({ route: { chatId: 'c2' } });
    });

    it('[H08] does not start a job that is paused or removed', async () => {
      await add('a');
      await add('b');
      const [a, b] = [await got('a'), await got('b')];
      expect(await store.cronJobs.change('a', { state: 'paused' })).toBe(true);
      expect(await store.cronJobs.remove('b')).toBe(true);
      expect(await store.cronJobs.fire(a, reminder('x'), 2 * HOUR, HOUR)).toBe(false);
      expect(await store.cronJobs.fire(b, reminder('y'), 2 * HOUR, HOUR)).toBe(false);
      expect(await store.cronJobs.remove('b')).toBe(false);
      expect(await store.cronJobs.change('b', { title: 'x' })).toBe(false);
      expect(await got('a')).toMatchObject({ state: 'paused', nextAt: null });
      await store.cronJobs.change('a', { state: 'on', nextAt: 7 });
      expect(await store.cronJobs.nextAt()).toBe(7);
    });
  });
}
