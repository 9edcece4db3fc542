import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { DeadLetter } from './dead-letter-rows.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import {
  claimNextTurn,
  createAnswer,
  createMessage,
  createPart,
  createTestRoute,
  listMessageIds,
  startTurn,
} from './testing/messages.ts';

const C1 = { channel: 'web', account: 'default', chatId: 'c1' };

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`dead letters on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const nextText = async () => (await store.outbox.next(C1))?.part.body.text ?? null;
    const letters = () => store.deadLetters.open({ limit: 50 });
    async function onlyLetter(): Promise<DeadLetter> {
      const [letter, ...more] = await letters();
      if (letter === undefined || more.length > 0) throw new Error('not one letter');
      return letter;
    }
    async function failPart(state: 'failed' | 'unknown' = 'failed', now = 5): Promise<string> {
      const id = (await store.outbox.next(C1))?.part.id ?? '';
      await store.outbox.markSending(id, now);
      await store.outbox.markFailed(id, state, 'blocked', now, null);
      return id;
    }
    async function sendAll(): Promise<readonly string[]> {
      const sent: string[] = [];
      for (let due = await store.outbox.next(C1); due; due = await store.outbox.next(C1)) {
        await store.outbox.markSending(due.part.id, 9);
        await store.outbox.markSent(due.part.id, 'p', 9);
        sent.push(due.part.body.text);
      }
      return sent;
    }
    async function failTurn(turnId: string, now = 5): Promise<void> {
      const { lease } = await startTurn(store, turnId);
      const failed = {
        ...createAnswer(turnId, ['no answer']),
        outcome: 'failed',
        reason: 'down',
      } as const;
      await store.lanes.commit(
        lease,
        { ...failed, entries: [{ role: 'user', content: 'asked' }] },
        now,
      );
      await store.lanes.release(lease);
    }

    it('[D04] resends a part once, under its key, and only for the person whom it answers', async () => {
      await store.inbox.accept(createMessage('q'));
      const { lease } = await startTurn(store, 't1');
      await store.lanes.commit(lease, createAnswer('t1', ['answer']), 1);
      await failPart('unknown');
      const key = (await store.outbox.recent(C1, 1))[0]?.part.idempotencyKey ?? '';
      const resend = (id: string, senderId?: string) => {
        const which = { key, ...(senderId && { senderId }) };
        return store.inbox.command(createMessage(id), (command) => command.resend(which));
      };
      expect(await resend('r1', 'somebody else')).toBe('others');
      expect(await resend('r2', 'u1')).toBe('resent');
      expect(await resend('r3')).toBe('settled');
      expect(await nextText()).toBe('answer');
    });

    it('[D06] lists parts that were given up, with their text and the reason', async () => {
      await store.inbox.accept(createMessage('m1'));
      const { lease } = await startTurn(store, 't1');
      await store.lanes.commit(lease, createAnswer('t1', ['a', 'b', 'c']), 0);
      const id = await failPart('failed', 7);
      await failPart('unknown', 8);
      expect(await letters()).toMatchObject([
        {
          kind: 'uncertain',
          conversationId: 'web:c1',
          text: 'b',
          index: 1,
          diedAt: 8,
          state: 'unknown',
        },
        { kind: 'refused', partId: id, turnId: 't1', text: 'a', chat: C1, reason: 'blocked' },
      ]);
      expect(await store.deadLetters.counts()).toEqual({ refused: 1, uncertain: 1, unanswered: 0 });
    });

    it('[D06] does not list notices about a part that has a dead letter itself', async () => {
      await store.outbox.enqueue([createPart('a')], 0);
      const id = (await store.outbox.next(C1))?.part.id ?? '';
      await store.outbox.markSending(id, 1);
      await store.outbox.markFailed(id, 'failed', 'x', 1, createPart('⚙️ it did not arrive'));
      await failPart();
      expect(await onlyLetter()).toMatchObject({ partId: id });
    });

    it('[D06] lists dead letters newest first, page by page, and finds them by number', async () => {
      await store.outbox.enqueue(
        ['a', 'b', 'c'].map((text) => createPart(text)),
        0,
      );
      for (let i = 0; i < 3; i += 1) await failPart();
      const [first, second] = await store.deadLetters.open({ limit: 2 });
      const rest = await store.deadLetters.open({ before: second?.id, limit: 2 });
      expect(
        [first, second, ...rest].map((letter) => letter && 'text' in letter && letter.text),
      ).toEqual(['c', 'b', 'a']);
      expect(await store.deadLetters.get(second?.id ?? 0)).toEqual(second);
      expect(await store.deadLetters.get(999)).toBeNull();
      const ids = await store.deadLetters.openIds(['refused'], 0, 2);
      expect(ids).toEqual([rest[0]?.id, second?.id]);
      expect(await store.deadLetters.openIds(['refused'], ids[1] ?? 0, 2)).toEqual([first?.id]);
      expect(await store.deadLetters.openIds(['uncertain', 'unanswered'], 0, 9)).toEqual([]);
    });

    it("[D06] resends parts under their old keys at the end of the chat's queue", async () => {
      await store.outbox.enqueue([createPart('a'), createPart('b'), createPart('c')], 0);
      const key = (await store.outbox.next(C1))?.part.idempotencyKey;
      await failPart();
      const { id } = await onlyLetter();
      expect(await store.deadLetters.replay(id, 'once', 9)).toEqual({
        kind: 'replayed',
        wake: { kind: 'chat', chat: C1 },
      });
      await store.outbox.enqueue([createPart('d')], 10);
      expect(await letters()).toEqual([]);
      expect(await store.deadLetters.get(id)).toMatchObject({
        settled: { how: 'replayed', at: 9 },
        state: 'pending',
      });
      const keys = new Map(
        (await store.outbox.recent(C1, 9)).map((it) => [it.part.body.text, it.part.idempotencyKey]),
      );
      expect(keys.get('a')).toBe(key);
      expect(await store.outbox.next(C1)).toMatchObject({ attempts: 0 });
      expect(await sendAll()).toEqual(['b', 'c', 'a', 'd']);
    });

    it('[D06] keeps the order of parts of the same answer when they are resent', async () => {
      await store.outbox.enqueue(
        ['a', 'b', 'c'].map((text) => createPart(text)),
        0,
      );
      for (let i = 0; i < 3; i += 1) await failPart();
      for (const id of await store.deadLetters.openIds(['refused'], 0, 9)) {
        await store.deadLetters.replay(id, 'once', 9);
      }
      expect(await sendAll()).toEqual(['a', 'b', 'c']);
    });

    it('[D06] resends a part only once, even if several people ask at the same time or repeat the request', async () => {
      await store.outbox.enqueue([createPart('a')], 0);
      await failPart();
      const { id } = await onlyLetter();
      const replays = await Promise.all(
        Array.from({ length: 8 }, () => store.deadLetters.replay(id, 'once', 9)),
      );
      expect(replays.filter(({ kind }) => kind === 'replayed')).toHaveLength(1);
      expect(replays.filter(({ kind }) => kind === 'settled')).toHaveLength(7);
      await failPart();
      expect(await store.deadLetters.replay(id, 'once', 9)).toEqual({ kind: 'settled' });
      expect(await store.deadLetters.drop(id, 9)).toBe('settled');
      expect((await onlyLetter()).id).not.toBe(id);
    });

    it('[D06] resends a part that may have been delivered only when a person accepts a duplicate', async () => {
      await store.outbox.enqueue([createPart('a')], 0);
      await failPart('unknown');
      const { id } = await onlyLetter();
      expect(await store.deadLetters.replay(id, 'once', 9)).toEqual({ kind: 'uncertain' });
      expect(await nextText()).toBeNull();
      expect(await store.deadLetters.replay(id, 'even-twice', 9)).toMatchObject({
        kind: 'replayed',
      });
      expect(await nextText()).toBe('a');
    });

    it('[D06] drops a dead letter once, no longer lists or sends it, and shows it as failed in /why', async () => {
      await store.outbox.enqueue([createPart('a')], 0);
      await failPart();
      const { id } = await onlyLetter();
      expect(await store.deadLetters.drop(id, 9)).toBe('dropped');
      expect(await store.deadLetters.drop(id, 10)).toBe('settled');
      expect(await store.deadLetters.replay(id, 'even-twice', 10)).toEqual({ kind: 'settled' });
      expect(await letters()).toEqual([]);
      expect(await store.outbox.counts()).toMatchObject({ failed: 1, pending: 0 });
      expect(await store.deadLetters.drop(999, 9)).toBe('missing');
      expect(await store.deadLetters.replay(999, 'once', 9)).toEqual({ kind: 'missing' });
    });

    it('[D06] lists failed turns with their unanswered messages', async () => {
      await store.inbox.accept(createMessage('m1', 'c1', { at: 3 }));
      await failTurn('t1');
      expect(await onlyLetter()).toMatchObject({
        kind: 'unanswered',
        turnId: 't1',
        conversationId: 'web:c1',
        reason: 'down',
        steps: 0,
        messages: [{ messageId: 'm1', from: 'Ada 🦜', text: 'text of m1', at: 3, chat: C1 }],
      });
    });

    it('[D06] replays messages as a new turn, ahead of later messages', async () => {
      await store.inbox.accept(createMessage('m1'));
      await failTurn('t1');
      await store.inbox.accept(createMessage('m2'));
      await failPart();
      const [excuse, turn] = await letters();
      expect(await store.deadLetters.replay(turn?.id ?? 0, 'once', 9)).toEqual({
        kind: 'replayed',
        wake: { kind: 'conversation', conversationId: 'web:c1' },
      });
      expect(await store.lanes.withWork(9, 10_000)).toEqual(['web:c1']);
      const { turn: again } = await startTurn(store, 't2', 'web:c1', 'w2');
      expect(listMessageIds(again)).toEqual(['m1', 'm2']);
      expect(again).toMatchObject({ turnId: 't2', attempts: 0, resumed: false });
      expect(await store.transcript.recent('web:c1', 0, 9)).toEqual([]);
      expect(await store.deadLetters.replay(turn?.id ?? 0, 'once', 9)).toEqual({ kind: 'settled' });
      // The notice about the missing answer is no longer needed.
      expect(excuse).toMatchObject({ kind: 'refused', text: 'no answer' });
      expect(await letters()).toEqual([]);
    });

    it('[D06] replays messages without disturbing a running turn', async () => {
      await store.inbox.accept(createMessage('m1'));
      await failTurn('t1');
      await store.inbox.accept(createMessage('m2'));
      const { lease } = await startTurn(store, 't2');
      const { id } = await onlyLetter();
      await store.deadLetters.replay(id, 'once', 9);
      expect(await store.lanes.commit(lease, createAnswer('t2', ['two']), 9)).toBe('committed');
      expect(listMessageIds(await claimNextTurn(store, lease, 't3'))).toEqual(['m1']);
    });

    it('[D06] shows replayed and dropped dead letters correctly in /why', async () => {
      const story = async () => (await store.decisions.stories(createTestRoute('c1'), 5))[0];
      await store.inbox.accept(createMessage('m1'));
      await failTurn('t1');
      await failPart();
      const [excuse, turn] = await letters();
      await store.deadLetters.drop(excuse?.id ?? 0, 9);
      expect(await story()).toMatchObject({
        outcome: 'turn',
        turn: { outcome: 'failed', parts: { failed: 1 } },
      });
      await store.deadLetters.replay(turn?.id ?? 0, 'once', 9);
      expect(await story()).toMatchObject({ outcome: 'waiting' });
      const { lease } = await startTurn(store, 't2');
      await store.lanes.commit(lease, createAnswer('t2', ['yes']), 9);
      await sendAll();
      expect(await story()).toMatchObject({
        outcome: 'turn',
        turn: { outcome: 'answered', parts: { sent: 1, failed: 0 } },
      });
    });

    it('[D05] [D06] tells the agent about dead letters until they are delivered, even when they are dropped', async () => {
      const undelivered = async () =>
        (await store.transcript.recent('web:c1', 0, 9)).flatMap((it) => it.undelivered ?? []);
      await store.inbox.accept(createMessage('m1'));
      const { lease } = await startTurn(store, 't1');
      await store.lanes.commit(lease, createAnswer('t1', ['a', 'b']), 0);
      await failPart();
      await failPart();
      const [b, a] = await letters();
      await store.deadLetters.replay(a?.id ?? 0, 'once', 9);
      expect(await undelivered()).toEqual(['blocked', 'blocked']);
      await store.deadLetters.drop(b?.id ?? 0, 9);
      expect(await undelivered()).toEqual(['blocked', 'blocked']);
      await sendAll();
      expect(
        (await store.decisions.stories(createTestRoute('c1'), 1))[0]?.turn?.parts,
      ).toMatchObject({
        sent: 1,
        failed: 1,
      });
    });

    it('[D06] does not record dead letters for work that nobody is waiting for', async () => {
      for (const lane of ['sub:a', 'beat:main']) {
        await store.inbox.accept({ ...createMessage(lane), conversationId: lane });
        const { lease } = await startTurn(store, `turn ${lane}`, lane);
        const failed = { ...createAnswer(`turn ${lane}`, []), outcome: 'failed' } as const;
        await store.lanes.commit(lease, failed, 5);
      }
      expect(await letters()).toEqual([]);
    });
  });
}
