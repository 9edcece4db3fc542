import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { TurnUsage } from './spend.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createAnswer, createMessage, startTurn } from './testing/messages.ts';
import type { UsageGrouping, UsageQuery } from './usage.ts';

/** The last day in the queries; in Tokyo it starts at 15:00 UTC on the previous day. */
const TODAY = '2026-11-21';
const NOON = Date.parse('2026-11-21T12:00:00Z');
const HOUR_MS = 60 * 60_000;
const QUERY = { lastDay: TODAY, days: 30, timeZone: 'UTC', agent: 'Parley' };

interface Scripted {
  readonly chat?: string;
  readonly lane?: string;
  readonly at?: number;
  /** The time from the message to the commit, in ms. */
  readonly took?: number;
  readonly sender?: string;
  readonly group?: string;
  readonly trigger?: 'cron';
  readonly usage?: Partial<TurnUsage> | null;
  readonly outcome?: 'failed' | 'silent';
}

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`usage on ${database.name}`, () => {
    let store: Store;
    let made = 0;
    beforeEach(async () => {
      store = await database.openEmpty();
      made = 0;
    });
    afterAll(() => database.dispose());

    const begin = async ({ chat = 'c1', at = NOON, sender = 'u1', ...more }: Scripted) => {
      made += 1;
      const turnId = `t${String(made).padStart(4, '0')}`;
      const type = more.group === undefined ? {} : { type: 'group' as const };
      const said = createMessage(`m${made}`, chat, { at, ...type });
      const { trigger } = more;
      const asked = {
        ...said.message,
        sender: { ...said.message.sender, id: sender, name: `Name of ${sender}` },
        chat: { ...said.message.chat, ...(more.group !== undefined && { title: more.group }) },
        ...(trigger !== undefined && { trigger }),
      };
      const { lane = said.conversationId } = more;
      await store.inbox.accept({ ...said, conversationId: lane, message: asked });
      const work = { conversationId: lane, owner: 'w1', leaseMs: 1_000 };
      const begun = await store.lanes.begin(work, 'collect', turnId, at);
      if (begun.kind !== 'turn') throw new Error(`no turn: ${begun.kind}`);
      return { turnId, lease: begun.lease };
    };

    /** Runs a turn that uses 10 + 2 tokens, 4 of them cached, and costs a quarter of a dollar. */
    const turn = async (scripted: Scripted = {}) => {
      const { turnId, lease } = await begin(scripted);
      const { chat = 'c1', at = NOON, took = 1_000, outcome = 'answered' as const } = scripted;
      const counted = { model: 'm', inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 };
      const usage =
        scripted.usage === null ? null : { ...counted, costUsd: 0.25, ...scripted.usage };
      const commit = { ...createAnswer(turnId, ['a'], chat), outcome, usage };
      expect(await store.lanes.commit(lease, commit, at + took)).toBe('committed');
    };
    const ask = (by: UsageGrouping, more: Partial<UsageQuery> = {}) =>
      store.usage.sums({ ...QUERY, by, ...more });
    const namesBy = async (by: UsageGrouping) =>
      (await ask(by)).rows.map(({ name, title, turns }) => ({ name, title, turns }));

    it('[U07] adds up tokens (including cached ones), cost, turns and failed turns', async () => {
      await turn();
      await turn({ outcome: 'failed', usage: { costUsd: null } });
      await turn({ outcome: 'failed', usage: null });
      const { total, rows, other, outside } = await ask('day');
      expect(total).toEqual({
        turns: 3,
        failed: 2,
        inputTokens: 20,
        cachedTokens: 8,
        outputTokens: 4,
        costUsd: 0.25,
        unpriced: 1,
        latency: { p50: 1_000, p95: 1_000 },
      });
      expect({ rows, other, outside }).toEqual({ rows: [], other: null, outside: null });
    });

    it("[U07] counts a turn's steps once, even if it was stopped", async () => {
      const usage = { model: 'm', inputTokens: 4, outputTokens: 1, cachedInputTokens: 3 };
      const account = { day: TODAY, personId: 'web:u1', groupId: null };
      const step = { index: 0, content: {}, spends: { account, usage: { ...usage, costUsd: 1 } } };
      const { turnId, lease } = await begin({});
      await store.turns.appendStep(lease, turnId, step, NOON);
      const stop = { ...createMessage('stop', 'c1', { at: NOON }) };
      await store.inbox.command(stop, (command) => command.stop());
      expect((await ask('day')).total).toMatchObject({
        ...{ turns: 1, failed: 0, inputTokens: 4, cachedTokens: 3, costUsd: 1, latency: null },
      });
    });

    it.each(['approved', 'denied'] as const)(
      '[U03] excludes the wait for a person from the latency: %s',
      async (verdict) => {
        const { turnId, lease } = await begin({});
        const question = {
          ...{ code: 'ABC234', turnId, callKey: `${turnId}.0.0`, tool: 'write', shown: '{}' },
          ...{ askedBy: 'web:u1', place: 'c1', askedIn: 'web:c1', approvers: ['web:u1'] },
          expiresAt: NOON + HOUR_MS,
        };
        const asked = await store.approvals.ask(lease, question, [], NOON + 1_000);
        expect(asked).toBe('asked');
        const decision = { verdict, by: 'web:u1' };
        await store.approvals.decide('ABC234', decision, NOON + 601_000);
        const usage = { model: 'm', inputTokens: 1, outputTokens: 1, costUsd: 1 };
        const commit = {
          ...createAnswer(turnId, ['a'], 'c1'),
          outcome: 'answered' as const,
          usage,
        };
        expect(await store.lanes.commit(lease, commit, NOON + 603_000)).toBe('committed');
        expect((await ask('day')).total.latency).toEqual({ p50: 3_000, p95: 3_000 });
      },
    );

    it('[U12] [U03] excludes the time of a takeover from the latency', async () => {
      const { turnId, lease } = await begin({});
      const conversationId = 'web:c1';
      database.setTime(NOON + 1_000);
      await store.takeovers.takeOver({ conversationId, by: 'Ann', lastsMs: HOUR_MS });
      database.setTime(NOON + 601_000);
      await store.takeovers.handBack(conversationId, 'Ann');
      const again = { conversationId, owner: 'w', leaseMs: 9_000 };
      const begun = await store.lanes.begin(again, 'collect', 'none', NOON + 601_000);
      expect(begun).toMatchObject({ kind: 'turn', turn: { turnId } });
      if (begun.kind !== 'turn') return;
      expect(begun.lease.epoch).toBeGreaterThan(lease.epoch);
      const usage = { model: 'm', inputTokens: 1, outputTokens: 1, costUsd: 1 };
      const commit = { ...createAnswer(turnId, ['a'], 'c1'), outcome: 'answered' as const, usage };
      expect(await store.lanes.commit(begun.lease, commit, NOON + 603_000)).toBe('committed');
      expect((await ask('day')).total.latency).toEqual({ p50: 3_000, p95: 3_000 });
      expect((await store.usage.hours(NOON + HOUR_MS, 1))[0]?.latency?.p50).toBe(3_000);
    });

    it('[U12] [G05] [U03] counts the wait for a question only once if it was decided during a takeover', async () => {
      const { turnId, lease } = await begin({});
      const question = {
        ...{ code: 'ABC234', turnId, callKey: `${turnId}.0.0`, tool: 'write', shown: '{}' },
        ...{ askedBy: 'web:u1', place: 'c1', askedIn: 'web:c1', approvers: ['web:u1'] },
        expiresAt: NOON + HOUR_MS,
      };
      expect(await store.approvals.ask(lease, question, [], NOON + 1_000)).toBe('asked');
      await store.lanes.release(lease);
      const conversationId = 'web:c1';
      database.setTime(NOON + 2_000);
      await store.takeovers.takeOver({ conversationId, by: 'Ann', lastsMs: HOUR_MS });
      const decision = { verdict: 'approved' as const, by: 'web:u1' };
      await store.approvals.decide('ABC234', decision, NOON + 5_000);
      database.setTime(NOON + 11_000);
      await store.takeovers.handBack(conversationId, 'Ann');
      const again = { conversationId, owner: 'w', leaseMs: 9_000 };
      const begun = await store.lanes.begin(again, 'collect', 'none', NOON + 11_000);
      if (begun.kind !== 'turn') throw new Error('the turn was not resumed');
      const usage = { model: 'm', inputTokens: 1, outputTokens: 1, costUsd: 1 };
      const commit = { ...createAnswer(turnId, ['a'], 'c1'), outcome: 'answered' as const, usage };
      await store.lanes.commit(begun.lease, commit, NOON + 13_000);
      expect((await ask('day')).total.latency?.p50).toBe(3_000);
    });

    it('[U03] returns each of the last hours, oldest first, including hours without turns', async () => {
      await turn({ at: NOON - 3 * HOUR_MS });
      await turn({ at: NOON - HOUR_MS });
      await turn({ at: NOON - HOUR_MS, outcome: 'failed' });
      const hours = await store.usage.hours(NOON, 3);
      expect(hours.map(({ from, turns, failed }) => [from, turns, failed])).toEqual([
        [NOON - 3 * HOUR_MS, 1, 0],
        [NOON - 2 * HOUR_MS, 0, 0],
        [NOON - HOUR_MS, 2, 1],
      ]);
      expect(hours[0]?.latency).toEqual({ p50: 1_000, p95: 1_000 });
    });

    it('[U07] returns each day in the range, from midnight to midnight in the time zone', async () => {
      await turn({ at: Date.parse('2026-11-20T14:59:00Z'), took: 0 });
      await turn({ at: Date.parse('2026-11-20T15:00:00Z'), took: 0 });
      await turn({ at: Date.parse('2026-11-18T10:00:00Z') });
      const turnsOf = async (more: Partial<UsageQuery>) =>
        (await ask('day', more)).days.map(({ day, turns }) => [day, turns]);
      expect(await turnsOf({ timeZone: 'Asia/Tokyo', days: 3 })).toEqual([
        ['2026-11-19', 0],
        ['2026-11-20', 1],
        ['2026-11-21', 1],
      ]);
      expect(await turnsOf({ days: 1, lastDay: '2026-11-20' })).toEqual([['2026-11-20', 2]]);
      expect(await turnsOf({ days: 400 })).toHaveLength(400);
    });

    it('[U07] groups by person, chat, model, channel and agent, largest first', async () => {
      await turn({ sender: 'bo', chat: 'g1', group: 'Tea' });
      await turn({ sender: 'ada', usage: { model: 'large', costUsd: 2 } });
      await turn({ sender: 'bo', chat: 'g1', group: 'Tea at five' });
      expect(await namesBy('person')).toEqual([
        { name: 'web:ada', title: 'Name of ada', turns: 1 },
        { name: 'web:bo', title: 'Name of bo', turns: 2 },
      ]);
      expect(await namesBy('chat')).toEqual([
        { name: 'web:c1', title: 'Name of ada', turns: 1 },
        { name: 'web:g1', title: 'Tea at five', turns: 2 },
      ]);
      expect(await namesBy('model')).toEqual([
        { name: 'large', title: null, turns: 1 },
        { name: 'm', title: null, turns: 2 },
      ]);
      expect(await namesBy('channel')).toEqual([{ name: 'web', title: null, turns: 3 }]);
      expect(await namesBy('agent')).toEqual([{ name: 'Parley', title: null, turns: 3 }]);
      expect((await ask('day')).rows).toEqual([]);
    });

    it('[U07] labels work that nobody asked for', async () => {
      await turn({ lane: 'beat:main' });
      await turn({ lane: 'sub:1' });
      for (const by of ['agent', 'channel'] as const) {
        expect((await namesBy(by)).map(({ name }) => name)).toEqual(['heartbeat', 'sub-agents']);
      }
    });

    it("[U07] attributes a sub-agent's usage to the chat whose turn started it", async () => {
      const { turnId } = await begin({ sender: 'ada' });
      const order = { id: 'a', callId: 'a', turnId, title: 't', task: 't', text: 'w' } as const;
      const bounds = { depth: 2, concurrent: 3 };
      await store.subAgents.start({ ...order, reader: 'owner' }, bounds, NOON);
      const { lease: own } = await startTurn(store, 't9999', 'sub:a');
      const usage = { model: 'm', inputTokens: 7, outputTokens: 0, costUsd: null };
      const end = { steps: 1, state: 'done', result: 'r', text: 'w' } as const;
      const commit = { ...createAnswer('t9999', []), parts: [], usage };
      await store.subAgents.commit(own, { ...end, commit }, NOON);
      const { rows } = await ask('chat');
      expect(rows).toMatchObject([{ name: 'web:c1', turns: 1, inputTokens: 7, latency: null }]);
      expect(await namesBy('agent')).toMatchObject([{ name: 'sub-agents', turns: 1 }]);
      expect(await namesBy('channel')).toMatchObject([{ name: 'web', turns: 1 }]);
    });

    it('[U07] stops reading days after a maximum number of turns, and reports this', async () => {
      for (const day of ['19', '20', '20', '21']) {
        await turn({ at: Date.parse(`2026-11-${day}T01:00:00Z`) });
      }
      const { isWhole, days, total } = await ask('day', { mostTurns: 2 });
      expect({ isWhole, turns: total.turns }).toEqual({ isWhole: false, turns: 3 });
      expect(days.map(({ day }) => day)).toEqual(['2026-11-20', '2026-11-21']);
      expect((await ask('day')).isWhole).toBe(true);
    });

    it('[U07] lists at most 50 groups and sums up the rest', async () => {
      for (let nth = 0; nth < 52; nth += 1) {
        await turn({ sender: `u${nth}`, usage: { inputTokens: 100 - nth } });
      }
      const { rows, other, total } = await ask('person');
      expect(rows).toHaveLength(50);
      expect(rows.at(-1)?.name).toBe('web:u49');
      expect(other).toMatchObject({ groups: 2, turns: 2, inputTokens: 50 + 49 });
      expect(total.turns).toBe(52);
    });

    it('[U07] measures latency from the message to the commit of its answer, as median and 95th percentile', async () => {
      for (let nth = 1; nth <= 19; nth += 1) await turn({ took: nth * 1_000 });
      await turn({ took: 1_234_567 });
      // These turns do not answer a person, so they have no latency.
      await turn({ took: 9_999_999, outcome: 'failed' });
      await turn({ took: 9_999_999, trigger: 'cron' });
      expect((await ask('day')).total.latency).toEqual({ p50: 10_000, p95: 19_000 });
      await turn({ sender: 'slow', took: 123_456 });
      await turn({ sender: 'quick', took: 87 });
      const { rows } = await ask('person');
      const of = (name: string) => rows.find((row) => row.name === name)?.latency?.p50;
      expect([of('web:slow'), of('web:quick')]).toEqual([120_000, 90]);
    });

    it('[U07] counts usage outside turns in its day and in the total', async () => {
      await turn();
      const used = { inputTokens: 30, outputTokens: 5, costUsd: 1 };
      await store.spend.add({ day: TODAY, personId: '', groupId: null }, used);
      const { total, days, rows, outside } = await ask('person');
      expect(outside).toMatchObject({ turns: 0, inputTokens: 30, outputTokens: 5, costUsd: 1 });
      expect(total).toMatchObject({ turns: 1, inputTokens: 40, outputTokens: 7, costUsd: 1.25 });
      expect(days.at(-1)).toMatchObject({ day: TODAY, inputTokens: 40 });
      expect(rows).toHaveLength(1);
    });

    it('[U07] finds the highest daily usage by one person and in one group', async () => {
      const spend = (personId: string, groupId: string | null, tokens: number) =>
        store.spend.add(
          { day: TODAY, personId, groupId },
          { inputTokens: tokens, outputTokens: 0, costUsd: tokens / 100 },
        );
      const nothing = { tokens: 0, costUsd: 0 };
      expect(await store.usage.highest(TODAY)).toEqual({ person: nothing, group: nothing });
      await spend('web:ada', null, 5);
      await spend('web:ada', 'g', 2);
      await spend('web:bo', 'g', 4);
      await spend('', null, 90);
      expect(await store.usage.highest(TODAY)).toEqual({
        person: { tokens: 7, costUsd: 0.07 },
        group: { tokens: 6, costUsd: 0.06 },
      });
    });
  });
}
