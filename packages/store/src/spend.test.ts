import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { SpendAccount } from './spend.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createAnswer, createMessage, startTurn } from './testing/messages.ts';

const ADA: SpendAccount = { day: '2026-11-21', personId: 'web:ada', groupId: null };
const IN_GROUP = { ...ADA, groupId: 'web:default:g1' };
const BO = { ...ADA, personId: 'web:bo' };

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`spending on ${database.name}`, () => {
    let store: Store;
    let made = 0;
    beforeEach(async () => {
      store = await database.openEmpty();
      made = 0;
    });
    afterAll(() => database.dispose());

    /** Runs a turn that charges 7 + 2 tokens to an account. */
    const spend = async (
      account: SpendAccount,
      more: { costUsd?: number; outcome?: 'failed' | 'silent' } = {},
    ) => {
      made += 1;
      await store.inbox.accept(createMessage(`m${made}`));
      const { lease } = await startTurn(store, `t${made}`);
      const { costUsd = null, outcome = 'answered' as const } = more;
      const usage = { model: 'm', inputTokens: 7, outputTokens: 2, costUsd };
      const commit = { ...createAnswer(`t${made}`, []), outcome, usage, account };
      return { commit: () => store.lanes.commit(lease, commit, made), lease };
    };
    const spent = async (...all: Parameters<typeof spend>) => (await spend(...all)).commit();

    it('[G17] adds up usage by person, group and day, whatever the outcome of the turn', async () => {
      await spent(ADA, { costUsd: 0.5 });
      await spent(ADA, { costUsd: 0.25 });
      await spent(IN_GROUP, { costUsd: 0.25, outcome: 'failed' });
      await spent(BO, { outcome: 'silent' });
      await spent({ ...ADA, day: '2026-11-22' });
      const used = {
        person: { tokens: 27, costUsd: 1 },
        group: { tokens: 9, costUsd: 0.25 },
        total: { tokens: 36, costUsd: 1 },
      };
      expect(await store.spend.of(IN_GROUP)).toEqual({ ...used, ofAgent: used });
      expect(await store.spend.ofPerson(IN_GROUP)).toEqual({ tokens: 27, costUsd: 1 });
      expect((await store.spend.of(BO)).group).toEqual({ tokens: 0, costUsd: 0 });
      expect(await store.spend.day('2026-11-21')).toEqual({
        tokens: 36,
        costUsd: 1,
        people: 2,
        groups: 1,
      });
    });

    it('[G17] counts cached input at its share of the price, in steps and in the commit', async () => {
      await store.inbox.accept(createMessage('m1'));
      const { lease } = await startTurn(store, 't1');
      const step = {
        ...{ model: 'm', inputTokens: 1_000, outputTokens: 10, costUsd: null },
        ...{ cachedInputTokens: 800, cachedShare: 0.1 },
      };
      const spends = { account: ADA, usage: step };
      await store.turns.appendStep(lease, 't1', { index: 0, content: 'x', spends }, 1);
      expect((await store.spend.of(ADA)).person.tokens).toBe(200 + 80 + 10);
      const usage = { ...step, inputTokens: 3_000, outputTokens: 30, cachedInputTokens: 2_800 };
      await store.lanes.commit(lease, { ...createAnswer('t1', []), usage, account: ADA }, 2);
      // Adds 2,000 input tokens, all of them cached, and 20 output tokens.
      expect((await store.spend.of(ADA)).person.tokens).toBe(290 + 200 + 20);
    });

    it('[G17] [F14] sums usage per agent and for all agents together', async () => {
      const usage = { inputTokens: 7, outputTokens: 2, costUsd: null };
      await store.spend.add(ADA, usage);
      await store.spend.add({ ...ADA, agent: 'support' }, usage);
      await store.spend.add({ ...BO, agent: 'support' }, usage);
      const { person, total, ofAgent } = await store.spend.of({ ...ADA, agent: 'support' });
      expect([person.tokens, total.tokens]).toEqual([18, 27]);
      expect([ofAgent.person.tokens, ofAgent.total.tokens]).toEqual([9, 18]);
      expect((await store.spend.of(ADA)).ofAgent.total.tokens).toBe(9);
    });

    it('[G17] counts each step once, and the commit counts the rest', async () => {
      const { commit, lease } = await spend(ADA, { costUsd: 0.5 });
      const usage = { model: 'm', inputTokens: 4, outputTokens: 1, costUsd: 0.25 };
      const step = { index: 0, content: {}, spends: { account: ADA, usage } };
      for (const _ of [1, 2]) await store.turns.appendStep(lease, 't1', step, 1);
      expect((await store.spend.of(ADA)).person).toEqual({ tokens: 5, costUsd: 0.25 });
      expect(await commit()).toBe('committed');
      expect((await store.spend.of(ADA)).person).toEqual({ tokens: 9, costUsd: 0.5 });
      expect(await store.turns.totals(0)).toMatchObject({ inputTokens: 7, outputTokens: 2 });
    });

    it('[G17] counts the finished steps of a stopped turn', async () => {
      const { commit, lease } = await spend(ADA);
      const usage = { model: 'm', inputTokens: 4, outputTokens: 1, costUsd: null };
      const step = { index: 0, content: {}, spends: { account: ADA, usage } };
      await store.turns.appendStep(lease, 't1', step, 1);
      await store.inbox.command(createMessage('stop'), (command) => command.stop());
      expect(await commit()).toBe('fenced');
      const late = { ...step, index: 1 };
      expect(await store.turns.appendStep(lease, 't1', late, 2)).toBe('fenced');
      expect((await store.spend.of(ADA)).person.tokens).toBe(5);
      expect(await store.turns.totals(0)).toMatchObject({ stopped: 1, inputTokens: 4 });
    });

    it("[G17] adds unrequested work to the total but not to a person's usage", async () => {
      await spent(ADA);
      await store.spend.add(
        { day: ADA.day, personId: '', groupId: null },
        { inputTokens: 3, outputTokens: 1, costUsd: null },
      );
      expect((await store.spend.of(ADA)).person.tokens).toBe(9);
      expect(await store.spend.day(ADA.day)).toMatchObject({ tokens: 13, people: 1 });
    });

    it('[G17] reports zero usage on a day without turns', async () => {
      const nothing = { tokens: 0, costUsd: 0 };
      const none = { person: nothing, group: nothing, total: nothing };
      expect(await store.spend.of(IN_GROUP)).toEqual({ ...none, ofAgent: none });
      expect(await store.spend.day('1999-01-01')).toEqual({ ...nothing, people: 0, groups: 0 });
    });

    it('[G17] counts a turn once, even if it is committed again or by a worker that lost its lane', async () => {
      const { commit } = await spend(ADA);
      expect(await commit()).toBe('committed');
      expect(await commit()).toBe('fenced');
      const lost = await spend(ADA);
      database.setTime(9_000_000);
      await startTurn(store, 'unused', 'web:c1', 'w2');
      expect(await lost.commit()).toBe('fenced');
      expect((await store.spend.of(ADA)).person.tokens).toBe(9);
    });
  });
}
