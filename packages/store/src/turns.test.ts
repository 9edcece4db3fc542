import type { StepInfo } from '@parley/core';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from './store.ts';
import { listBothDatabases } from './testing/databases.ts';
import { claimNextTurn, createAnswer, createMessage, startTurn } from './testing/messages.ts';

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`the turn journal on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept(createMessage('m1'));
    });
    afterAll(() => database.dispose());

    it('[G16] stores each step once, in its first version', async () => {
      const { lease } = await startTurn(store, 't1');
      const { appendStep } = store.turns;
      expect(await appendStep(lease, 't1', { index: 0, content: 'first' }, 1)).toBe('committed');
      expect(await appendStep(lease, 't1', { index: 0, content: 'again' }, 2)).toBe('committed');
      expect((await claimNextTurn(store, lease, 't1')).steps).toEqual([
        { index: 0, content: 'first' },
      ]);
    });

    it('[U08] lists the tool calls made in turns with their outcomes', async () => {
      const { lease } = await startTurn(store, 't1');
      const calls = [
        { name: 'read', arguments: '{"path":"a.md"}' },
        { name: 'list', arguments: 'broken' },
      ];
      const model = {
        kind: 'model',
        model: 'm',
        inputTokens: 1,
        outputTokens: 1,
        calls: [],
      } as const;
      const step = async (index: number, content: object, facts: StepInfo): Promise<unknown> =>
        store.turns.appendStep(
          lease,
          't1',
          { index, content, timing: { startedAt: 5, facts } },
          index === 2 ? 5 : 9,
        );
      await step(0, { kind: 'model', text: '{"kind":"tool"}', calls }, model);
      const tool = { kind: 'tool', tool: 'read', outcome: 'done', call: 't1.0.0' } as const;
      await step(1, { kind: 'result', text: '\u0000 \ud83d' }, tool);
      const denied = { ...tool, tool: 'list', outcome: 'not-run', call: 't1.0.1' } as const;
      await step(2, { kind: 'result' }, denied);
      expect(await store.turns.calls(['t1', 't9'])).toEqual([
        { turnId: 't1', callId: 't1.0.0', tool: 'read', about: 'a.md', state: 'done', ms: 4 },
        { turnId: 't1', callId: 't1.0.1', tool: 'list', about: '', state: 'failed', ms: 0 },
      ]);
      expect(await store.turns.calls([])).toEqual([]);
    });

    it('[G16] rejects a step from a worker that lost its lane', async () => {
      const { lease: lost } = await startTurn(store, 't1');
      database.setTime(1_000);
      const work = { conversationId: 'web:c1', owner: 'w2', leaseMs: 0 };
      await store.lanes.begin(work, 'collect', 'unused', 1);
      const step = { index: 0, content: 'ghost' };
      expect(await store.turns.appendStep(lost, 't1', step, 1)).toBe('fenced');
      expect((await startTurn(store, 'unused', 'web:c1', 'w3')).turn.steps).toEqual([]);
    });

    it('[G16] rejects a step for a finished turn', async () => {
      const { lease } = await startTurn(store, 't1');
      await store.lanes.commit(lease, createAnswer('t1', []), 1);
      const step = { index: 0, content: 'late' };
      expect(await store.turns.appendStep(lease, 't1', step, 2)).toBe('fenced');
    });

    const stopped = (turnId = 't1') => ({
      conversationId: 'web:c1',
      ...createAnswer(turnId, ['half an ans']),
    });
    const remembered = async () =>
      (await store.transcript.recent('web:c1', 0, 9)).map(({ content }) => content);
    const stop = async () => {
      await startTurn(store, 't1');
      return store.inbox.command(createMessage('stop'), (command) => command.stop());
    };

    it('[U08] keeps the partial answer of a stopped turn once', async () => {
      expect(await stop()).toMatchObject({ stoppedTurn: 't1' });
      expect(await store.turns.savePartialAnswer(stopped(), 5)).toMatchObject([{ turnId: 't1' }]);
      expect(await store.turns.savePartialAnswer(stopped(), 6)).toBeNull();
      expect(await remembered()).toEqual(['half an ans']);
      const chat = { channel: 'web', account: 'default', chatId: 'c1' };
      expect(await store.outbox.recent(chat, 9)).toHaveLength(1);
    });

    it('[U08] does not keep the partial answer if the turn was not stopped by a person, belongs to an ended session, or was forgotten', async () => {
      await startTurn(store, 't1');
      expect(await store.turns.savePartialAnswer(stopped(), 5)).toBeNull();
      await store.inbox.command(createMessage('stop'), (command) => command.stop());
      await store.inbox.command(createMessage('new'), (command) => command.startSession());
      expect(await store.turns.savePartialAnswer(stopped(), 6)).toBeNull();
      await store.inbox.accept(createMessage('m2'));
      await startTurn(store, 't2');
      await store.inbox.command(createMessage('stop2'), (command) => command.stop());
      await store.forgetting.forgetPerson({
        ...{ persons: ['web:u1'], ownersToo: false, only: null, now: 9 },
        onStopped: () => undefined,
        retell: () => '',
      });
      expect(await store.turns.savePartialAnswer(stopped('t2'), 7)).toBeNull();
      expect(await remembered()).toEqual([]);
    });

    it('sums up turns that ended in the given time, and returns zero if there are none', async () => {
      const zero = {
        answered: 0,
        failed: 0,
        stopped: 0,
        inputTokens: 0,
        outputTokens: 0,
        costUsd: 0,
        unpriced: 0,
      };
      expect(await store.turns.totals(0)).toEqual(zero);
      await store.inbox.accept(createMessage('m2'));
      const { lease } = await startTurn(store, 't1', 'web:c1', 'w1', 'followup');
      const usage = { model: 'm', inputTokens: 7, outputTokens: 2, costUsd: null };
      await store.lanes.commit(lease, { ...createAnswer('t1', []), usage }, 100);
      await claimNextTurn(store, lease, 't2', 'followup');
      await store.lanes.commit(lease, { ...createAnswer('t2', []), outcome: 'failed', usage }, 200);

      const both = { answered: 1, failed: 1, inputTokens: 14, outputTokens: 4, unpriced: 2 };
      expect(await store.turns.totals(100)).toEqual({ ...zero, ...both });
      const second = { failed: 1, inputTokens: 7, outputTokens: 2, unpriced: 1 };
      expect(await store.turns.totals(101)).toEqual({ ...zero, ...second });
    });
  });
}
