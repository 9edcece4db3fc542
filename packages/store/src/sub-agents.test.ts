import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Lease } from './rows.ts';
import type { Store } from './store.ts';
import type { SubAgentTask, SubAgentTurn } from './sub-agents.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import {
  claimNextTurn,
  createAnswer,
  createMessage,
  listMessageIds,
  startTurn,
} from './testing/messages.ts';

const BOUNDS = { depth: 2, concurrent: 3 };
const CHAT = 'web:c1';

const order = (id: string, change: Partial<SubAgentTask> = {}): SubAgentTask => ({
  id,
  callId: `call of ${id}`,
  turnId: 't1',
  title: 'flights',
  task: 'find flights',
  reader: 'owner',
  text: 'begin',
  ...change,
});

const ending = (turnId: string, state: SubAgentTurn['state'] = 'done'): SubAgentTurn => ({
  commit: {
    turnId,
    outcome: state === 'done' ? 'answered' : 'failed',
    entries: [],
    parts: [],
    usage: { model: 'm', inputTokens: 10, outputTokens: 2, costUsd: 0.5 },
  },
  steps: 3,
  state,
  result: 'by train',
  text: '⚙️ it is done',
});

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`sub-agents on ${database.name}`, () => {
    let store: Store;
    let lease: Lease;
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept({ ...createMessage('1'), fromOwner: true });
      ({ lease } = await startTurn(store, 't1'));
    });
    afterAll(() => database.dispose());

    const start = (id: string, change: Partial<SubAgentTask> = {}) =>
      store.subAgents.start(order(id, change), BOUNDS, 5);
    const begin = (id: string, turnId = `turn of ${id}`) => startTurn(store, turnId, `sub:${id}`);
    const state = async (id: string) => (await store.subAgents.of(`sub:${id}`))?.state;
    const waiting = async () => {
      await store.lanes.commit(lease, createAnswer('t1', []), 6);
      const next = await store.lanes.claim(lease, 'collect', 't2', 6);
      return next.kind === 'turn' ? next.turn.messages : [];
    };

    it('[G07] starts a sub-agent in a separate lane, while the turn that asked continues and ends', async () => {
      expect(await start('a')).toEqual({ kind: 'started', conversationId: 'sub:a' });
      expect(await store.lanes.withWork(9, 10_000)).toContain('sub:a');
      const { turn } = await begin('a');
      expect(turn).toMatchObject({ session: 0, messages: [{ fromOwner: true }] });
      expect(turn.messages[0]?.message).toMatchObject({
        text: 'begin',
        trigger: 'sub-agent',
        chat: { id: 'sub:a', type: 'direct' },
        sender: { id: 'u1' },
      });
      expect(await store.lanes.commit(lease, createAnswer('t1', ['soon']), 6)).toBe('committed');
      expect(await store.subAgents.of('sub:a')).toMatchObject({
        rootConversation: CHAT,
        parentConversation: CHAT,
        parentTurn: 't1',
        depth: 1,
        reader: 'owner',
        state: 'running',
      });
      // None of the sub-agent's messages appear in the chat that it works for.
      const chat = { channel: 'web', account: 'default', chatId: 'c1' };
      expect(await store.inbox.recent(chat, 9)).toHaveLength(1);
    });

    it('[F14] [W02] starts a sub-agent of another agent without owner rights, and reports to the asking agent', async () => {
      await start('a', { to: { agent: 'desk' }, reader: 'guest' });
      const {
        lease: own,
        turn: { messages },
      } = await startTurn(store, 's1', '@desk/sub:a');
      expect(messages.map(({ fromOwner = false }) => fromOwner)).toEqual([false]);
      await store.subAgents.commit(own, ending('s1'), 6);
      expect(await waiting()).toMatchObject([{ conversationId: CHAT, fromOwner: true }]);
    });

    it('[G16] starts a sub-agent once per call, even if the call runs again', async () => {
      await start('a');
      expect(await start('b', { callId: 'call of a' })).toEqual({
        kind: 'started',
        conversationId: 'sub:a',
      });
      expect(await store.subAgents.of('sub:b')).toBeNull();
    });

    it('[G07] reports the end of a sub-agent once, to the conversation that started it', async () => {
      await start('a');
      const { lease: own } = await begin('a', 's1');
      expect(await store.subAgents.commit(own, ending('s1'), 6)).toEqual({
        kind: 'over',
        wake: CHAT,
      });
      expect(await store.subAgents.commit(own, ending('s1'), 6)).toEqual({ kind: 'fenced' });
      expect(await store.subAgents.of('sub:a')).toMatchObject({
        state: 'done',
        result: 'by train',
        steps: 3,
        inputTokens: 10,
        outputTokens: 2,
        costUsd: 0.5,
        finishedAt: 6,
      });
      const [told, ...more] = await waiting();
      expect(more).toEqual([]);
      expect(told).toMatchObject({ conversationId: CHAT, fromOwner: true });
      expect(told?.route).toEqual(createMessage('1').route);
      expect(told?.message).toMatchObject({
        text: '⚙️ it is done',
        trigger: 'sub-agent',
        chat: { id: 'c1' },
      });
    });

    it('[D02] rejects the end or report of a sub-agent whose worker lost its lease', async () => {
      await start('a');
      const { lease: old } = await begin('a', 's1');
      await store.lanes.releaseAll();
      await startTurn(store, 'unused', 'sub:a', 'w2');
      expect(await store.subAgents.commit(old, ending('s1'), 6)).toEqual({ kind: 'fenced' });
      expect(await state('a')).toBe('running');
    });

    it('[G07] allows sub-agents to delegate to one more level, but not deeper', async () => {
      await start('a');
      const { lease: one } = await begin('a', 's1');
      expect((await start('b', { turnId: 's1' })).kind).toBe('started');
      const { lease: two } = await begin('b', 's2');
      expect((await start('c', { turnId: 's2' })).kind).toBe('too-deep');
      // The first sub-agent continues until its own sub-agents are done, and receives their
      // results.
      expect(await store.subAgents.commit(one, ending('s1'), 6)).toEqual({ kind: 'goes-on' });
      expect(await store.subAgents.commit(two, ending('s2'), 7)).toEqual({
        kind: 'over',
        wake: 'sub:a',
      });
      const next = await claimNextTurn(store, one, 's3');
      expect(listMessageIds(next)).toEqual(['b.over']);
      expect(await store.subAgents.commit(one, ending('s3'), 8)).toEqual({
        kind: 'over',
        wake: CHAT,
      });
      expect(await store.subAgents.of('sub:a')).toMatchObject({ steps: 6, inputTokens: 20 });
      expect((await waiting()).map((row) => row.message.messageId)).toEqual(['a.over']);
    });

    it('[G07] stops the sub-agents of a sub-agent that fails', async () => {
      await start('a');
      const { lease: one } = await begin('a', 's1');
      await start('b', { turnId: 's1' });
      expect((await store.subAgents.commit(one, ending('s1', 'failed'), 6)).kind).toBe('over');
      expect([await state('a'), await state('b')]).toEqual(['failed', 'stopped']);
      expect(await store.lanes.withWork(9, 10_000)).not.toContain('sub:b');
    });

    it('[G07] runs at most three sub-agents at a time per conversation', async () => {
      const kinds = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => start(id)));
      expect(kinds.filter(({ kind }) => kind === 'started')).toHaveLength(3);
      expect(kinds.filter(({ kind }) => kind === 'too-many')).toHaveLength(2);
    });

    it.each([['stop'], ['startSession']] as const)(
      '[G07] ends sub-agents with %s',
      async (action) => {
        await start('a');
        const { lease: one } = await begin('a', 's1');
        await start('b', { turnId: 's1' });
        const found = await store.inbox.command(createMessage('9'), (command) => command[action]());
        expect(found?.stoppedSubAgents).toEqual(['sub:a', 'sub:b']);
        expect([await state('a'), await state('b')]).toEqual(['stopped', 'stopped']);
        expect(await store.subAgents.commit(one, ending('s1'), 7)).toEqual({ kind: 'fenced' });
        expect(await store.lanes.withWork(9, 10_000)).not.toContain('sub:a');
        expect((await start('c')).kind).toBe('over');
      },
    );

    it("[G07] does not send a sub-agent's report to a session that was restarted", async () => {
      await start('a');
      const { lease: one } = await begin('a', 's1');
      expect((await store.subAgents.commit(one, ending('s1'), 5)).kind).toBe('over');
      await store.inbox.accept(createMessage('2'));
      await store.inbox.command(createMessage('9'), (command) => command.startSession());
      expect((await waiting()).map((row) => row.message.messageId)).toEqual(['2']);
    });

    it('[G07] lets sub-agents in other conversations continue', async () => {
      await start('a');
      await store.inbox.command(createMessage('9', 'c2'), (command) => command.stop());
      expect(await state('a')).toBe('running');
    });

    it('handles a sub-agent that ends and is stopped at the same moment', async () => {
      for (let round = 0; round < 5; round += 1) {
        const id = `r${round}`;
        await store.inbox.accept(createMessage(`m${id}`, id));
        await startTurn(store, `t${id}`, `web:${id}`);
        await start(id, { turnId: `t${id}` });
        const { lease: own } = await begin(id, `s${id}`);
        const [ended] = await Promise.all([
          store.subAgents.commit(own, ending(`s${id}`), 6),
          store.inbox.command(createMessage(`stop${id}`, id), (command) => command.stop()),
        ]);
        expect(await state(id)).toBe(ended.kind === 'over' ? 'done' : 'stopped');
      }
    });
  });
}
