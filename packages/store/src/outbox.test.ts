import type { CommittedParts } from '@parley/core';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { computeRemainingDelay } from './due.ts';
import type { Store } from './store.ts';
import { listBothDatabases } from './testing/databases.ts';
import { createMessage, createPart, createTestRoute, startTurn } from './testing/messages.ts';

const C1 = { channel: 'web', account: 'default', chatId: 'c1' };
const C2 = { ...C1, chatId: 'c2' };

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`the outbox on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const nextText = async (chat = C1) => (await store.outbox.next(chat))?.part.body.text ?? null;
    async function sending(chat = C1): Promise<string> {
      const next = await store.outbox.next(chat);
      if (next === null || !(await store.outbox.markSending(next.part.id, 1))) {
        throw new Error('nothing to send');
      }
      return next.part.id;
    }

    it("[D04] returns a chat's parts in storage order, one after another", async () => {
      await store.outbox.enqueue([createPart('a'), createPart('b')], 0);
      await store.outbox.enqueue([createPart('other', 'c2'), createPart('c')], 0);
      const sent: (string | null)[] = [];
      for (let i = 0; i < 3; i += 1) {
        sent.push(await nextText());
        await store.outbox.markSent(await sending(), `p${i}`, 2);
      }
      expect(sent).toEqual(['a', 'b', 'c']);
      expect(await store.outbox.next(C1)).toBeNull();
      expect(await nextText(C2)).toBe('other');
    });

    it('[D04] does not send a part before an earlier one that is being sent or delayed', async () => {
      await store.outbox.enqueue([createPart('a'), createPart('b')], 0);
      const id = await sending();
      expect(await store.outbox.next(C1)).toMatchObject({ state: 'sending', part: { id } });
      await store.outbox.retryLater(id, { now: 1_000, afterMs: 4_000 }, 'slow down', 'counts');
      expect(await store.outbox.next(C1)).toMatchObject({
        state: 'pending',
        notBefore: 5_000,
        attempts: 1,
        part: { id },
      });
    });

    it('[D04] refuses to send a part before an earlier part for its chat, even if the sender does not know about the earlier part', async () => {
      await store.outbox.enqueue([createPart('a'), createPart('b'), createPart('other', 'c2')], 0);
      const [a, b] = await store.outbox.unfinished(C1, 2);
      expect(await store.outbox.markSending(b?.part.id ?? '', 1)).toBe(false);
      expect(await store.outbox.markSending(a?.part.id ?? '', 1)).toBe(true);
      expect(await store.outbox.markSending(b?.part.id ?? '', 1)).toBe(false);
      expect(await sending(C2)).toBeDefined();
      await store.outbox.markSent(a?.part.id ?? '', 'p1', 2);
      expect(await store.outbox.markSending(b?.part.id ?? '', 3)).toBe(true);
    });

    it('[D16] returns the parts of a commit as a read would find them', async () => {
      await store.inbox.accept(createMessage('m1'));
      const {
        lease,
        turn: { turnId },
      } = await startTurn(store, 't1');
      const buttons = [{ label: 'Yes', data: '/yes' }];
      const parts = [createPart('one'), { ...createPart('two'), buttons }];
      const said = { turnId, outcome: 'answered', entries: [], parts, usage: null } as const;
      let fresh: CommittedParts | undefined;
      await store.lanes.commit(lease, { ...said, trace: 'trace-1' }, 7, (stored) => {
        fresh = stored;
      });
      const due = await store.outbox.unfinished(C1, 10);
      expect(fresh?.parts).toEqual(due.map((row) => row.part));
      expect(due.map(({ createdAt, notBefore, trace }) => [createdAt, notBefore, trace])).toEqual(
        parts.map(() => [fresh?.createdAt, fresh?.createdAt, fresh?.trace]),
      );
    });

    it('[D04] reports which messages already had a platform id before a part was sent, and which parts are uncertain', async () => {
      await store.outbox.enqueue(
        [createPart('before', 'c2'), createPart('lost'), createPart('sought')],
        0,
      );
      await store.outbox.markSent(await sending(C2), '41', 1);
      const lost = await sending();
      await store.outbox.markFailed(lost, 'unknown', 'killed', 1, null);
      const sought = await sending();
      expect(await store.outbox.before(sought)).toEqual({
        known: [{ chatId: 'c2', messageId: '41', direction: 'out', at: 1 }],
        uncertainAt: 1,
      });
      await store.outbox.markSent(sought, '42', 2);
      expect((await store.outbox.before(sought)).known).toHaveLength(1);
    });

    it("[D04] reports only messages from the part's own chat, even after much activity in other chats", async () => {
      await store.outbox.enqueue([createPart('before'), createPart('sought')], 0);
      await store.outbox.markSent(await sending(), '41', 1);
      for (let nth = 1; nth <= 60; nth += 1) {
        await store.outbox.enqueue([createPart('other', 'c2')], 0);
        await store.outbox.markSent(await sending(C2), String(nth), 2);
        await store.inbox.accept(createMessage(`m${nth}`, 'c2'));
      }
      const { known } = await store.outbox.before(await sending());
      expect(known.filter(({ chatId }) => chatId === 'c1')).toEqual([
        { chatId: 'c1', messageId: '41', direction: 'out', at: 1 },
      ]);
    });

    it('[D04] assigns every part a separate key that any platform accepts', async () => {
      await store.outbox.enqueue(
        Array.from({ length: 20 }, () => createPart('same')),
        0,
      );
      const entries = await store.outbox.recent(C1, 50);
      const keys = new Set(entries.map((entry) => entry.part.idempotencyKey));
      expect(keys.size).toBe(20);
      for (const key of keys) expect(key).toMatch(/^[\w-]{10,25}$/);
    });

    it('[D04] lets only one gateway mark a part as sending', async () => {
      await store.outbox.enqueue([createPart('a')], 0);
      const id = (await store.outbox.next(C1))?.part.id ?? '';
      const marks = await Promise.all(
        Array.from({ length: 10 }, () => store.outbox.markSending(id, 1)),
      );
      expect(marks.filter(Boolean)).toHaveLength(1);
      expect(await store.outbox.markSending('part_unknown', 1)).toBe(false);
    });

    it.each([
      ['an hour', -3_600_000],
      ['a year', -365 * 24 * 3_600_000],
    ])(
      '[D05] does not delay a part longer than intended when the clock is set back %s',
      async (_by, step) => {
        const then = 10 ** 12;
        await store.outbox.enqueue([createPart('a')], then);
        await store.outbox.markSending((await store.outbox.next(C1))?.part.id ?? '', then);
        const found = async (now: number) =>
          (await store.outbox.chatsWithWork('web', 'default', now, 9)).length +
          (await store.outbox.accountsWithWork(now)).length;
        expect(await found(then + step)).toBe(2);
        const id = (await store.outbox.next(C1))?.part.id ?? '';
        await store.outbox.retryLater(id, { now: then, afterMs: 500 }, 'slow down', 'free');
        expect(await found(then + 499)).toBe(0);
        expect(await found(then + 500)).toBe(2);
        expect(await found(then + step)).toBe(2);
        const due = await store.outbox.next(C1);
        expect(
          due && [computeRemainingDelay(due, then + 400), computeRemainingDelay(due, then + step)],
        ).toEqual([100, 0]);
      },
    );

    it('counts an attempt only if it failed because of the part', async () => {
      await store.outbox.enqueue([createPart('a')], 0);
      await store.outbox.retryLater(await sending(), { now: 1, afterMs: 0 }, 'rate', 'free');
      await store.outbox.retryLater(
        await sending(),
        { now: 2, afterMs: 0 },
        'broken pipe',
        'counts',
      );
      expect(await store.outbox.next(C1)).toMatchObject({ attempts: 1, notBefore: 2 });
      expect((await store.outbox.recent(C1, 1))[0]?.error).toBe('broken pipe');
    });

    it('[D04] gives up a part and reports it at the end of the chat', async () => {
      await store.outbox.enqueue([createPart('a'), createPart('b'), createPart('c')], 0);
      await store.outbox.markFailed(
        await sending(),
        'unknown',
        'no answer',
        2,
        createPart('notice'),
      );
      await store.outbox.markFailed(await sending(), 'failed', 'too long', 3, null);
      const entries = await store.outbox.recent(C1, 9);
      expect(entries.map((entry) => [entry.part.body.text, entry.state, entry.error])).toEqual([
        ['a', 'unknown', 'no answer'],
        ['b', 'failed', 'too long'],
        ['c', 'pending', null],
        ['notice', 'pending', null],
      ]);
      expect(await nextText()).toBe('c');
    });

    it('accepts the same report twice, and rejects reports about a part that is not being sent', async () => {
      await store.outbox.enqueue([createPart('a')], 0);
      const pending = (await store.outbox.next(C1))?.part.id ?? '';
      await expect(store.outbox.markSent(pending, 'p1', 1)).rejects.toMatchObject({
        code: 'store-part-state',
      });
      const id = await sending();
      await store.outbox.markSent(id, 'p1', 2);
      await store.outbox.markSent(id, 'p1', 3);
      await expect(
        store.outbox.markFailed(id, 'failed', 'no', 4, createPart('n')),
      ).rejects.toMatchObject({
        code: 'store-part-state',
      });
      expect(await store.outbox.counts()).toMatchObject({ sent: 1, failed: 0, pending: 0 });
    });

    it("finds an account's chats whose first unfinished part is due", async () => {
      await store.outbox.enqueue([createPart('a', 'waits'), createPart('b', 'waits')], 0);
      await store.outbox.enqueue(
        [createPart('a', 'due'), createPart('b', 'due'), createPart('a', 'future')],
        0,
      );
      await store.outbox.enqueue([createPart('a', 'done'), createPart('a', 'dead')], 0);
      await store.outbox.enqueue(
        [{ ...createPart('a'), route: { ...createTestRoute('c1'), account: 'two' } }],
        0,
      );
      const waits = await sending({ ...C1, chatId: 'waits' });
      await store.outbox.retryLater(waits, { now: 100, afterMs: 800 }, 'x', 'free');
      const future = await sending({ ...C1, chatId: 'future' });
      await store.outbox.retryLater(future, { now: 100, afterMs: 801 }, 'x', 'free');
      await store.outbox.markSent(await sending({ ...C1, chatId: 'done' }), 'p1', 1);
      await sending({ ...C1, chatId: 'dead' });

      const chats = async (now: number, limit: number) =>
        (await store.outbox.chatsWithWork('web', 'default', now, limit)).map((chat) => chat.chatId);
      expect(await chats(500, 9)).toEqual(['due', 'dead']);
      expect(await chats(900, 9)).toEqual(['waits', 'due', 'dead']);
      expect(await chats(900, 1)).toEqual(['waits']);
    });

    it('counts the parts in each state', async () => {
      expect(await store.outbox.counts()).toEqual({
        pending: 0,
        sending: 0,
        sent: 0,
        unknown: 0,
        failed: 0,
      });
      await store.outbox.enqueue([createPart('a'), createPart('b'), createPart('c')], 0);
      await store.outbox.markSent(await sending(), 'p', 1);
      await sending();
      expect(await store.outbox.counts()).toMatchObject({ pending: 1, sending: 1, sent: 1 });
    });

    it('lists the newest parts of a chat, oldest first', async () => {
      await store.outbox.enqueue([createPart('a'), createPart('b'), createPart('c')], 7);
      const entries = await store.outbox.recent(C1, 2);
      expect(entries.map((entry) => entry.part.body.text)).toEqual(['b', 'c']);
      expect(entries[0]).toMatchObject({ createdAt: 7, state: 'pending', error: null });
    });
  });
}
