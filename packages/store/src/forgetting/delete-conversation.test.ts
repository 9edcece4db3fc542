import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from '../store.ts';
import { listBothDatabases } from '../testing/databases.ts';
import {
  createAnswer,
  createMessage,
  createPart,
  createTestRoute,
  listMessageIds,
  startTurn,
} from '../testing/messages.ts';

const LANE = 'web:c1';
const SECRET = 'amaranth';
const CHAT = { channel: 'web', account: 'default', chatId: 'c1' };
const CLAIM = ['collect', 'new-turn', 0] as const;

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
      const { lease } = await startTurn(store, turnId, `web:${chat}`);
      await store.lanes.commit(lease, createAnswer(turnId, [`Of ${SECRET}`], chat), 2);
      await store.lanes.release(lease);
    };
    const remove = (conversationId = LANE, onStopped = (lane: string) => void stopped.push(lane)) =>
      store.forgetting.deleteConversation({
        ...{ conversationId, by: 'Ann', now: 3 },
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

    it('[U12] stops the running turn, and its worker cannot store anything more', async () => {
      await say('m1');
      const { lease } = await startTurn(store, 't1');
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

    it('[U12] keeps messages written during the deletion: they wait and start a conversation without history', async () => {
      await say('m1');
      await store.conversations.act(LANE, { kind: 'mode', to: 'plan' }, 1);
      await startTurn(store, 't1');
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

    it("[U12] ends a takeover and removes everyone's marks for the conversation", async () => {
      await say('m1');
      await store.takeovers.takeOver({ conversationId: LANE, by: 'Bo', lastsMs: 60_000 });
      await store.conversationMarks.change('Bo', LANE, { kind: 'rename', title: SECRET });
      await remove();
      expect((await store.conversationMarks.of('Bo')).marks).toEqual([]);
      const { takeovers } = await store.takeovers.recent(9);
      expect(takeovers).toMatchObject([{ by: 'Bo', endedBy: 'Ann' }]);
    });

    it('[U12] keeps every message that arrives during the deletion complete, at whichever step it arrives', async () => {
      for (let nth = 0; nth < 20; nth += 1) await say(`old${nth}`);
      let isDeleted = false;
      const arriving = (async () => {
        let count = 0;
        for (; !isDeleted; count += 1) await say(`new${count}`);
        return count;
      })();
      const deleted = await remove();
      isDeleted = true;
      const arrived = await arriving;
      const left = (await store.inbox.recent(CHAT, 9_999)).map(({ message: { text } }) => text);
      expect(left).toEqual(
        Array.from({ length: left.length }, (_, nth) => {
          return `${SECRET} new${arrived - left.length + nth}`;
        }),
      );
      expect((deleted?.messages ?? 0) + left.length).toBe(20 + arrived);
    });

    it('[U12] releases the lane from a worker that still holds it between two turns', async () => {
      await say('m1');
      const { lease } = await startTurn(store, 't1');
      await store.lanes.commit(lease, createAnswer('t1', [`Of ${SECRET}`]), 2);
      await remove();
      expect(stopped).toEqual([]);
      await say('m2');
      expect(await store.lanes.claim(lease, 'collect', 't2', 4)).toEqual({ kind: 'fenced' });
      expect(listMessageIds((await startTurn(store, 't3', LANE, 'w2')).turn)).toEqual(['m2']);
      expect(await store.transcript.recent(LANE, 1, 9)).toEqual([]);
    });

    it('[U12] does not change if the process dies at the start, and can then be deleted again', async () => {
      await say('m1');
      await startTurn(store, 't1');
      await expect(
        remove(LANE, () => {
          throw new Error('the process died');
        }),
      ).rejects.toThrow('died');
      await say('m2');
      expect([await texts(), await listed()]).toEqual([[`${SECRET} m1`, `${SECRET} m2`], ['c1']]);
      const begin = async () =>
        (await store.lanes.begin({ conversationId: LANE, owner: 'w', leaseMs: 9 }, ...CLAIM)).kind;
      database.setTime(119_999);
      expect([await begin(), await store.lanes.withWork(9, 9)]).toEqual(['taken-over', []]);
      database.setTime(120_000);
      expect([await store.lanes.withWork(9, 9), await begin()]).toEqual([[LANE], 'turn']);
      expect(await remove()).toMatchObject({ messages: 2 });
      expect([await texts(), await listed()]).toEqual([[], []]);
    });

    /** Leaves three dead letters in a chat: for a turn, a part, and an uncertain part. */
    const leaveLetters = async (chat: string) => {
      await say('q1', chat);
      await answered(`${chat}-1`, chat);
      await say('q2', chat);
      await answered(`${chat}-2`, chat);
      for (const state of ['failed', 'unknown'] as const) {
        const due = await store.outbox.next({ ...CHAT, chatId: chat });
        await store.outbox.markSending(due?.part.id ?? '', 2);
        await store.outbox.markFailed(due?.part.id ?? '', state, 'down', 2, null);
      }
      await say('q3', chat);
      const { lease } = await startTurn(store, `${chat}-3`, `web:${chat}`);
      const failed = { ...createAnswer(`${chat}-3`, [], chat), outcome: 'failed' } as const;
      await store.lanes.commit(lease, failed, 2);
      await store.lanes.release(lease);
    };
    const letters = () => store.deadLetters.open({ limit: 9 });
    const unsent = async () => (await store.outbox.next(CHAT))?.part.body.text ?? null;

    it('[U12] [D06] loses its dead letters, and a replay does not bring anything back', async () => {
      await leaveLetters('c1');
      await leaveLetters('c2');
      const own = (await letters()).filter((letter) => letter.conversationId === LANE);
      expect(own.map(({ kind }) => kind).toSorted()).toEqual([
        'refused',
        'unanswered',
        'uncertain',
      ]);
      await say('running');
      await startTurn(store, 't9');
      let replaying: Promise<unknown> = Promise.resolve();
      await remove(LANE, () => {
        replaying = Promise.all(
          own.map(async ({ id }) => (await store.deadLetters.replay(id, 'even-twice', 3)).kind),
        );
      });
      expect(await replaying).toEqual(['missing', 'missing', 'missing']);
      expect((await letters()).map(({ conversationId }) => conversationId)).toEqual(
        Array(3).fill('web:c2'),
      );
      expect([await listed(), await texts(), await unsent()]).toEqual([['c2'], [], null]);
      expect(await store.lanes.withWork(9, 9)).toEqual([]);
    });

    it('[U12] [D06] removes messages and parts that a replay has just made wait again', async () => {
      await leaveLetters('c1');
      const replayed = (await letters()).map(({ id }) =>
        store.deadLetters.replay(id, 'even-twice', 3),
      );
      await Promise.all([...replayed, remove()]);
      expect([await listed(), await texts(), await unsent()]).toEqual([[], [], null]);
      expect([await letters(), await store.lanes.withWork(9, 9)]).toEqual([[], []]);
    });

    it.each([
      ['is postponed', 'after the deletion'],
      ['fails', 'after the deletion'],
      ['is postponed', 'during the deletion'],
      ['fails', 'during the deletion'],
    ])('[U12] [D06] does not send a part again if its delivery %s %s', async (what, when) => {
      await say('m1');
      await answered('t1');
      const id = (await store.outbox.next(CHAT))?.part.id ?? '';
      await store.outbox.markSending(id, 2);
      await say('m2');
      await startTurn(store, 't2');
      const end = () =>
        what === 'fails'
          ? store.outbox.markFailed(id, 'unknown', 'down', 4, null)
          : store.outbox.retryLater(id, { now: 4, afterMs: 0 }, 'too many', 'free');
      let ending: Promise<void> = Promise.resolve();
      await remove(LANE, () => {
        if (when === 'during the deletion') ending = end();
      });
      await (when === 'during the deletion' ? ending : end());
      expect([await unsent(), await letters()]).toEqual([null, []]);
    });

    const rename = (title: string) =>
      store.conversationMarks.change('Bo', LANE, { kind: 'rename', title });
    const takeOver = () =>
      store.takeovers.takeOver({ conversationId: LANE, by: 'Bo', lastsMs: 60_000 });
    const reply = () =>
      store.takeovers.reply({
        ...{ conversationId: LANE, by: 'Bo', as: 'self', requestKey: 'k' },
        ...{ parts: [createPart('Hi')], entries: () => [] },
      });

    it('[U12] is not changed by requests that arrive after its deletion', async () => {
      await say('m1');
      await remove();
      for (const change of [
        { kind: 'rename', title: 'Harbor' },
        { kind: 'pin', to: true },
        { kind: 'archive', to: true },
        { kind: 'read', upTo: null },
        { kind: 'unread' },
      ] as const) {
        expect(await store.conversationMarks.change('Bo', LANE, change)).toBe(false);
      }
      const named = { pinned: [LANE], archived: [LANE], unread: [LANE], titles: { [LANE]: 'Old' } };
      await store.conversationMarks.begin('Bo', named);
      for (const action of [
        { kind: 'mode', to: 'plan' },
        { kind: 'model', change: { to: 'm2' } },
        { kind: 'new-session' },
        { kind: 'stop' },
      ] as const) {
        expect(await store.conversations.act(LANE, action, 4)).toBeNull();
      }
      expect([await takeOver(), await reply()]).toEqual([null, null]);
      expect(await store.takeovers.newestRoute(LANE)).toBeNull();
      expect(await store.takeovers.handBack(LANE, 'Bo')).toBe(false);
      await say('m2');
      expect((await store.conversationMarks.of('Bo')).marks).toEqual([]);
      const [one] = await store.conversations.list({ before: null, limit: 9, reader: 'Bo' });
      expect(one).toMatchObject({ mode: 'agent', model: null, takenOver: null, isNew: false });
      expect(
        await store.outbox.recent({ channel: 'web', account: 'default', chatId: 'c1' }, 9),
      ).toEqual([]);
      expect([await rename('Harbor'), await takeOver()]).toEqual([true, { until: 60_000 }]);
    });

    it('[U12] does not show failures or unread answers from before the deletion', async () => {
      const marks = { pinned: [], archived: [], titles: {}, unread: [] };
      await store.conversationMarks.begin('Bo', marks);
      await say('m1');
      await answered('t1');
      const id = (await store.outbox.next(CHAT))?.part.id ?? '';
      await store.outbox.markSending(id, 2);
      await store.outbox.markFailed(id, 'failed', 'down', 2, null);
      const shown = async () =>
        (await store.conversations.list({ before: null, limit: 9, reader: 'Bo' }))[0];
      expect(await shown()).toMatchObject({ failure: { reason: 'down' }, isNew: true });
      await remove();
      await say('m2');
      expect(await shown()).toMatchObject({ failure: null, isNew: false, newestPart: 0 });
    });

    it('[U12] does not keep a mark that a person set during the deletion', async () => {
      await say('m1');
      let isDeleted = false;
      const renaming = (async () => {
        while (!isDeleted) await rename('Harbor');
      })();
      await remove();
      isDeleted = true;
      await renaming;
      expect((await store.conversationMarks.of('Bo')).marks).toEqual([]);
    });

    it('[U12] cannot be taken over, written into or given a turn while it is being deleted', async () => {
      await say('m1');
      await startTurn(store, 't1');
      let meanwhile: Promise<unknown> = Promise.resolve();
      await remove(LANE, () => {
        meanwhile = (async () => [
          await store.takeovers.handBack(LANE, 'Bo'),
          await takeOver(),
          await reply(),
          await startTurn(store, 't2', LANE, 'w2').catch(() => 'no lease'),
        ])();
      });
      expect(await meanwhile).toEqual([false, null, null, 'no lease']);
    });

    it("[U12] does not affect other topics in the conversation's group", async () => {
      for (const topic of ['1', '2']) {
        const one = createMessage(`m${topic}`, 'g', { threadId: topic, type: 'group' });
        await store.inbox.accept({ ...one, conversationId: `web:g:${topic}` });
        const { lease } = await startTurn(store, `t${topic}`, `web:g:${topic}`);
        const parts = [
          { ...createPart(`Topic ${topic}`, 'g'), route: createTestRoute('g', topic) },
        ];
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
