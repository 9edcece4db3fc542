import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from '../store.ts';
import { listBothDatabases } from '../testing/databases.ts';
import {
  claimTurnOf,
  createAnswer,
  createMessage,
  createPart,
  createRouteTo,
  holdLane,
} from '../testing/messages.ts';

const LANE = 'web:c1';
const SECRET = 'amaranth';
const MARK = '[deleted]';

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`a deleted conversation on ${database.name}`, () => {
    let store: Store;
    let stopped: string[];
    beforeEach(async () => {
      store = await database.openEmpty();
      stopped = [];
    });
    afterAll(() => database.dispose());

    const say = async (id: string, chat = 'c1', at = 1) => {
      const one = createMessage(id, chat, { at });
      await store.inbox.accept({ ...one, message: { ...one.message, text: `${SECRET} ${id}` } });
    };
    const answered = async (turnId: string, chat = 'c1') => {
      const lease = await holdLane(store, `web:${chat}`);
      await claimTurnOf(store, lease, turnId);
      await store.lanes.commit(lease, createAnswer(turnId, [`Of ${SECRET}`], chat), 2);
      await store.lanes.release(lease);
    };
    const remove = (conversationId = LANE, onStopped = (lane: string) => void stopped.push(lane)) =>
      store.forgetting.deleteConversation({
        ...{ conversationId, by: 'Ann', mark: MARK, now: 3 },
        onStopped,
      });
    const listed = async () =>
      (await store.conversations.list({ before: null, limit: 9 })).map(({ chatId }) => chatId);
    const texts = async (chat = 'c1') =>
      (
        await store.conversations.messages({
          ...{ conversationId: `web:${chat}`, before: null, until: null, limit: 20 },
        })
      ).messages.map(({ text }) => text);
    const found = async () =>
      (
        await store.conversations.search(
          { typed: SECRET, before: null, limit: 9, scrub: (text) => text },
          () => 1_000_000,
        )
      ).hits.map(({ conversationId }) => conversationId);

    it('[U12] removes a deleted conversation from lists, search and history, and keeps other conversations', async () => {
      for (const chat of ['c1', 'c2']) {
        await say('m1', chat);
        await answered(`turn-${chat}`, chat);
      }
      expect(await store.forgetting.countForDeletion(LANE)).toEqual({
        ...{ messages: 1, answers: 1, files: 0, cronJobs: 0 },
      });
      expect(await remove()).toMatchObject({ messages: 1, cronJobs: 0 });
      expect(await listed()).toEqual(['c2']);
      expect(await texts()).toEqual([]);
      expect(await texts('c2')).toEqual([`${SECRET} m1`, `Of ${SECRET}`]);
      expect(await found()).toEqual(['web:c2', 'web:c2']);
      const chats = await store.inbox.chats({ channel: 'web', account: 'default' }, 9);
      expect(chats.map(({ chatId }) => chatId)).toEqual(['c2']);
      const chat = { channel: 'web', account: 'default', chatId: 'c1' };
      expect(await store.inbox.recent(chat, 9)).toEqual([]);
      expect(await store.outbox.recent(chat, 9)).toEqual([]);
      expect(await store.transcript.recent(LANE, 0, 9)).toEqual([]);
      expect(await store.conversations.details(LANE, 9)).toBeNull();
      expect(await store.forgetting.countForDeletion(LANE)).toBeNull();
      expect(await remove()).toBeNull();
      expect(await remove('nowhere')).toBeNull();
    });

    it('[U12] stops the running turn, whose worker can store nothing more', async () => {
      await say('m1');
      const lease = await holdLane(store);
      await claimTurnOf(store, lease, 't1');
      await say('m2');
      await remove();
      expect(stopped).toEqual([LANE]);
      const late = createAnswer('t1', [`Of ${SECRET}`]);
      expect(await store.lanes.commit(lease, late, 4)).toBe('fenced');
      const seen = { ...late, conversationId: LANE };
      expect(await store.turns.savePartialAnswer(seen, 4)).toBeNull();
      expect(await listed()).toEqual([]);
      const claimed = await store.lanes.begin(
        { conversationId: LANE, owner: 'w2', leaseMs: 1_000 },
        ...(['collect', 't2', 0] as const),
      );
      expect(claimed.kind).not.toBe('turn');
    });

    it('[U12] keeps messages written during the deletion: they wait and begin a conversation with no history', async () => {
      await say('m1');
      await store.conversations.act(LANE, { kind: 'mode', to: 'plan' }, 1);
      const lease = await holdLane(store);
      await claimTurnOf(store, lease, 't1');
      let meanwhile: Promise<void> = Promise.resolve();
      let kindMeanwhile = '';
      const begin = async (turnId: string) =>
        store.lanes.begin(
          { conversationId: LANE, owner: 'w2', leaseMs: 1_000 },
          ...(['collect', turnId, 0] as const),
        );
      await remove(LANE, () => {
        meanwhile = (async () => {
          await say('m2', 'c1', 5);
          kindMeanwhile = (await begin('t2')).kind;
        })();
      });
      await meanwhile;
      expect(kindMeanwhile).not.toBe('turn');
      expect(await listed()).toEqual(['c1']);
      expect(await texts()).toEqual([`${SECRET} m2`]);
      const [one] = await store.conversations.list({ before: null, limit: 9 });
      expect(one).toMatchObject({ mode: 'agent', waiting: 1, takenOver: null });
      const next = await begin('t3');
      expect(next).toMatchObject({ kind: 'turn', turn: { session: 1 } });
    });

    it("[U12] ends a takeover, and removes every person's marks for the conversation", async () => {
      await say('m1');
      await store.takeovers.takeOver({ conversationId: LANE, by: 'Bo', lastsMs: 60_000 });
      await store.conversationMarks.change('Bo', LANE, { kind: 'rename', title: SECRET });
      await remove();
      expect((await store.conversationMarks.of('Bo')).marks).toEqual([]);
      const { takeovers } = await store.takeovers.recent(9);
      expect(takeovers).toMatchObject([{ by: 'Bo', endedBy: 'Ann' }]);
    });

    it("[U12] does not affect other topics in the conversation's group", async () => {
      for (const topic of ['1', '2']) {
        const one = createMessage(`m${topic}`, 'g', { threadId: topic, type: 'group' });
        await store.inbox.accept({ ...one, conversationId: `web:g:${topic}` });
        const lease = await holdLane(store, `web:g:${topic}`);
        await claimTurnOf(store, lease, `t${topic}`);
        const parts = [{ ...createPart(`Topic ${topic}`, 'g'), route: createRouteTo('g', topic) }];
        await store.lanes.commit(lease, { ...createAnswer(`t${topic}`, [], 'g'), parts }, 2);
        await store.lanes.release(lease);
      }
      await remove('web:g:1');
      const page = await store.conversations.messages({
        ...{ conversationId: 'web:g:2', before: null, until: null, limit: 9 },
      });
      expect(page.messages.map(({ text }) => text)).toEqual(['text of m2', 'Topic 2']);
    });
  });
}
