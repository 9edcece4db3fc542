import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { HeartbeatAlert, HeartbeatRunRequest, HeartbeatRunResult } from './heartbeat-runs.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createMessage, createPart, createTestRoute, startTurn } from './testing/messages.ts';

const HALF_HOUR = 30 * 60_000;
const LANE = 'beat:main';
const CHAT = { channel: 'web', account: 'default', chatId: 'c1' };

function order(id: string, task = 'mail'): HeartbeatRunRequest {
  const asked = createMessage(id, 'c1');
  const chat = { id: LANE, type: 'direct' } as const;
  return {
    id,
    agent: 'main',
    task,
    target: 'web:c1',
    message: {
      ...asked,
      conversationId: LANE,
      message: { ...asked.message, chat, trigger: 'heartbeat' },
    },
  };
}

const alert = (text: string, more: Partial<HeartbeatAlert> = {}): HeartbeatAlert => ({
  text,
  fingerprint: `print of ${text}`,
  entry: { role: 'assistant', content: text },
  parts: [createPart(text)],
  ...more,
});

function ending(
  id: string,
  turnId: string,
  more: Partial<HeartbeatRunResult> = {},
): HeartbeatRunResult {
  const usage = { model: 'm', inputTokens: 100, outputTokens: 5, costUsd: null };
  const outcome = more.alert === undefined ? 'silent' : 'answered';
  return {
    id,
    commit: { turnId, outcome, entries: [], parts: [], usage },
    state: more.alert === undefined ? 'quiet' : 'alerted',
    reason: null,
    ...more,
  };
}

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`heartbeats on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept({ ...createMessage('1'), fromOwner: true });
    });
    afterAll(() => database.dispose());

    const end = async (id: string, more: Partial<HeartbeatRunResult> = {}, now = 10) => {
      const {
        lease,
        turn: { turnId },
      } = await startTurn(store, `turn of ${id}`, LANE);
      const done = await store.heartbeats.commit(lease, ending(id, turnId, more), now);
      await store.lanes.release(lease);
      return done;
    };
    const told = async () =>
      (await store.outbox.recent(CHAT, 9)).map(({ part: { body } }) => body.text);

    it('[H01] plans one cadence ahead and keeps the plan across a restart', async () => {
      expect(await store.heartbeats.plan('main')).toBeNull();
      await store.heartbeats.arm('main', HALF_HOUR, 1_000);
      const again = await store.heartbeats.arm('main', HALF_HOUR, 600_000);
      expect(again).toEqual({
        agent: 'main',
        everyMs: HALF_HOUR,
        nextAt: 1_000 + HALF_HOUR,
        lastAt: null,
        lastReason: null,
      });
    });

    it('[H01] runs sooner after the cadence was shortened or the clock was set back', async () => {
      await store.heartbeats.arm('main', HALF_HOUR, 1_000_000);
      const shorter = await store.heartbeats.arm('main', 60_000, 1_000_000);
      expect(shorter.nextAt).toBe(1_060_000);
      expect((await store.heartbeats.arm('main', 60_000, 0)).nextAt).toBe(60_000);
    });

    it('[H01] lets only one of several processes claim a slot', async () => {
      const { nextAt: dueAt } = await store.heartbeats.arm('main', 60_000, 0);
      const slot = { agent: 'main', dueAt, nextAt: dueAt + 60_000 };
      const taken = await Promise.all([
        store.heartbeats.start(order('a'), slot, dueAt),
        store.heartbeats.start(order('b'), slot, dueAt),
        store.heartbeats.skip(slot, 'nothing is due', dueAt),
      ]);
      const won = taken.filter((one) => one === 'started' || one === true);
      expect(won).toHaveLength(1);
      expect(await store.heartbeats.plan('main')).toMatchObject({ nextAt: dueAt + 60_000 });
    });

    it('[D08] [H03] shows a run in /why only in chats where it sent an alert', async () => {
      await store.heartbeats.start(order('quiet'), null, 1);
      await end('quiet', {}, 2);
      await store.heartbeats.start(order('loud', 'weather'), null, 3);
      await end('loud', { alert: alert('Rain.') }, 5);
      const stories = await store.decisions.stories(CHAT, 9);
      expect(stories.filter(({ outcome }) => outcome === 'alert')).toMatchObject([
        { messageId: 'loud', reason: 'weather', turn: { parts: { waiting: 1 } } },
      ]);
      expect(JSON.stringify(stories)).not.toContain('quiet');
      const elsewhere = await store.decisions.stories({ ...CHAT, chatId: 'c2' }, 9);
      expect(elsewhere).toEqual([]);
    });

    it('[H04] reports how long an alert is held', async () => {
      await store.heartbeats.start(order('a'), null, 1);
      await end('a', { alert: alert('Rain.', { heldUntil: 500 }) }, 5);
      expect(await store.heartbeats.of('a')).toMatchObject({ state: 'held', heldUntil: 500 });
      await store.heartbeats.release(500);
      expect(await store.heartbeats.of('a')).toMatchObject({ state: 'alerted', heldUntil: null });
    });

    it.each([
      ['until it ends', false, 500],
      ['until it is handed back', true, 400],
    ])(
      '[U12] [H04] holds an alert for a chat that a person has taken over %s',
      async (_case, isHandedBack, released) => {
        const lead = { conversationId: 'web:c1', by: 'Ann' };
        await store.takeovers.takeOver({ ...lead, lastsMs: 500 });
        await store.heartbeats.start(order('a'), null, 1);
        await end('a', { alert: alert('Rain.') }, 5);
        expect(await store.heartbeats.of('a')).toMatchObject({ state: 'held', heldUntil: 500 });
        await store.heartbeats.release(released - 1);
        expect(await told()).toEqual([]);
        database.setTime(released);
        if (isHandedBack) await store.takeovers.handBack('web:c1', 'Ann');
        await store.heartbeats.release(released);
        expect(await told()).toEqual(['Rain.']);
      },
    );

    it('[U12] [H04] keeps holding an alert if the takeover was extended in the meantime', async () => {
      const lead = { conversationId: 'web:c1', by: 'Ann' };
      await store.takeovers.takeOver({ ...lead, lastsMs: 500 });
      await store.heartbeats.start(order('a'), null, 1);
      await end('a', { alert: alert('Rain.') }, 5);
      database.setTime(400);
      await store.takeovers.takeOver({ ...lead, lastsMs: 500 });
      await store.heartbeats.release(500);
      expect(await told()).toEqual([]);
      await store.heartbeats.release(900);
      expect(await told()).toEqual(['Rain.']);
    });

    it('[H04] does not hold an alert beyond the quiet hours after the clock is set back', async () => {
      const then = 10 ** 12;
      await store.heartbeats.start(order('a'), null, then);
      await end('a', { alert: alert('Rain.', { heldUntil: then + 8 * 2 * HALF_HOUR }) }, then);
      await store.heartbeats.release(then - 2 * HALF_HOUR);
      expect(await store.heartbeats.of('a')).toMatchObject({ state: 'held' });
      await store.heartbeats.release(then - 365 * 24 * 2 * HALF_HOUR);
      expect(await store.heartbeats.of('a')).toMatchObject({ state: 'alerted' });
    });

    it('[H02] does not start a run while another one is unfinished, and keeps the slot', async () => {
      const { nextAt: dueAt } = await store.heartbeats.arm('main', 60_000, 0);
      expect(await store.heartbeats.start(order('a'), null, 1)).toBe('started');
      const slot = { agent: 'main', dueAt, nextAt: dueAt + 60_000 };
      expect(await store.heartbeats.start(order('b'), slot, 2)).toBe('busy');
      expect(await store.heartbeats.plan('main')).toMatchObject({ nextAt: dueAt });
      await end('a');
      expect(await store.heartbeats.start(order('b'), slot, 3)).toBe('started');
      await end('b');
      expect(await store.heartbeats.start(order('b'), null, 4)).toBe('gone');
    });

    it('[H09] queues hook runs while there is capacity, runs them in separate turns, and recognizes repeated events', async () => {
      const start = (id: string) => store.heartbeats.start(order(id), null, 1, 3);
      const begun = [];
      for (const id of ['a', 'b', 'c', 'd', 'a', 'b']) begun.push(await start(id));
      expect(begun).toEqual(['started', 'started', 'started', 'busy', 'gone', 'busy']);
      expect(await store.heartbeats.of('c')).toMatchObject({ state: 'waiting' });
      for (const id of ['a', 'b', 'c']) expect(await end(id)).toBe('committed');
      expect(await store.heartbeats.of('c')).toMatchObject({ state: 'quiet' });
      expect(await start('b')).toBe('gone');
    });

    it('[H09] stores each event only once if it does not start a run', async () => {
      const event = { id: 'e', agent: 'hook:ci', task: 'ci', lane: 'beat:hook:ci', reason: 'r' };
      expect(await store.heartbeats.note(event, 7)).toBe(true);
      expect(await store.heartbeats.note(event, 8)).toBe(false);
      const known = await store.heartbeats.recent('hook:ci', 9);
      expect(known).toMatchObject([{ id: 'e', startedAt: 7, state: 'quiet', reason: 'r' }]);
    });

    it('[H03] does not add anything to the chat or the history when all is quiet', async () => {
      await store.heartbeats.start(order('a'), null, 1);
      expect(await end('a')).toBe('committed');
      expect(await told()).toEqual([]);
      expect(await store.transcript.recent('web:c1', 0, 9)).toEqual([]);
      expect(await store.heartbeats.of('a')).toMatchObject({ state: 'quiet', finishedAt: 10 });
    });

    it("[H04] sends an alert once, and adds it to the chat's history", async () => {
      await store.heartbeats.start(order('a'), null, 1);
      const {
        lease,
        turn: { turnId },
      } = await startTurn(store, 't', LANE);
      const turn = ending('a', turnId, { alert: alert('rain') });
      expect(await store.heartbeats.commit(lease, turn, 5)).toBe('committed');
      expect(await store.heartbeats.commit(lease, turn, 6)).toBe('fenced');
      expect(await told()).toEqual(['rain']);
      expect(await store.transcript.recent('web:c1', 0, 9)).toMatchObject([
        { role: 'assistant', content: 'rain' },
      ]);
      expect(await store.outbox.next(CHAT)).toMatchObject({
        part: { route: createTestRoute('c1') },
      });
    });

    it('[H04] does not send an alert if the lease was lost', async () => {
      await store.heartbeats.start(order('a'), null, 1);
      const {
        lease,
        turn: { turnId },
      } = await startTurn(store, 't', LANE);
      database.setTime(9_999);
      await startTurn(store, 'unused', LANE, 'w2');
      const turn = ending('a', turnId, { alert: alert('rain') });
      expect(await store.heartbeats.commit(lease, turn, 5)).toBe('fenced');
      expect(await told()).toEqual([]);
      expect(await store.heartbeats.of('a')).toMatchObject({ state: 'running' });
    });

    it('[H04] holds an alert until the quiet hours end, and never inserts it before an answer', async () => {
      await store.heartbeats.start(order('a'), null, 1);
      await end('a', { alert: alert('rain', { heldUntil: 500 }) });
      await store.outbox.enqueue([createPart('an answer')], 20);
      expect(await told()).toEqual(['an answer']);
      expect(await store.heartbeats.nextRelease()).toBe(500);
      expect(await store.heartbeats.release(499)).toEqual([]);
      expect(await store.heartbeats.release(500)).toEqual([createTestRoute('c1')]);
      expect(await store.heartbeats.release(501)).toEqual([]);
      expect(await told()).toEqual(['an answer', 'rain']);
      expect(await store.heartbeats.of('a')).toMatchObject({ state: 'alerted', alert: 'rain' });
      expect(await store.heartbeats.nextRelease()).toBeNull();
    });

    it('[H04] remembers alerts that were sent recently, but not suppressed ones', async () => {
      await store.heartbeats.start(order('a'), null, 100);
      await end('a', { alert: alert('rain') });
      await store.heartbeats.start(order('b'), null, 200);
      await end('b', { state: 'repeated' });
      const said = (text: string, since: number) =>
        store.heartbeats.alertedSince('main', `print of ${text}`, since);
      expect(await said('rain', 100)).toBe(true);
      expect(await said('rain', 101)).toBe(false);
      expect(await said('snow', 0)).toBe(false);
    });

    it('[H09] [H04] sends and remembers the report of a failed event', async () => {
      await store.heartbeats.start(order('a'), null, 100);
      await end('a', { state: 'failed', reason: 'away', alert: alert('It failed.') });
      expect(await told()).toEqual(['It failed.']);
      expect(await store.heartbeats.of('a')).toMatchObject({ state: 'failed', reason: 'away' });
      expect(await store.heartbeats.alertedSince('main', 'print of It failed.', 100)).toBe(true);
    });

    it('[H05] counts the tokens of heartbeat runs', async () => {
      await store.heartbeats.start(order('a'), null, 100);
      await end('a');
      await store.heartbeats.start(order('b', 'calendar'), null, 200);
      await end('b');
      expect(await store.heartbeats.tokensSince('main', 0)).toBe(210);
      expect(await store.heartbeats.tokensSince('main', 150)).toBe(105);
      expect(await store.heartbeats.tokensSince('other', 0)).toBe(0);
      expect([...(await store.heartbeats.lastRuns('main'))]).toEqual(
        expect.arrayContaining([
          ['mail', 100],
          ['calendar', 200],
        ]),
      );
      expect((await store.heartbeats.recent('main', 1)).map(({ task }) => task)).toEqual([
        'calendar',
      ]);
    });
  });
}
