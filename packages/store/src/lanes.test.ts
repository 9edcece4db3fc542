import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from './store.ts';
import { listBothDatabases } from './testing/databases.ts';
import {
  claimNextTurn,
  createAnswer,
  createMessage,
  createTestRoute,
  listMessageIds,
  startTurn,
} from './testing/messages.ts';

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`a lane on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    it('[F08] waits for the rest of an album, and reports when to retry', async () => {
      const picture = (id: string, at: number) => {
        const { message: one, ...rest } = createMessage(id, 'c1', { at });
        return { ...rest, message: { ...one, albumId: 'a' }, settlesAt: at + 1_000 };
      };
      const work = { conversationId: 'web:c1', owner: 'w1', leaseMs: 1_000 };
      await store.inbox.accept(picture('m1', 0));
      expect(await store.lanes.begin(work, 'followup', 't1', 400)).toEqual({
        kind: 'settling',
        retryInMs: 600,
      });
      await store.inbox.accept(picture('m2', 500));
      const other = { ...work, owner: 'w2' };
      database.setTime(1_500);
      const started = await store.lanes.begin(other, 'followup', 't2', 1_500);
      expect(started.kind === 'turn' && listMessageIds(started.turn)).toEqual(['m1', 'm2']);
    });

    afterAll(() => database.dispose());

    describe('a turn that crashes its process', () => {
      const begin = async (nth: number) => {
        const work = { conversationId: 'web:c1', owner: 'w1', leaseMs: 0 };
        const started = await store.lanes.begin(work, 'followup', `t${nth}`, nth);
        return started.kind === 'turn' ? started.turn : null;
      };

      it('[D13] counts how often it hung the process', async () => {
        await store.inbox.accept(createMessage('m1'));
        const hangs = [(await begin(1))?.hangs];
        for (const nth of [2, 3]) {
          await store.turns.countHang('t1');
          // An interrupted start counts the same hang again.
          await store.turns.countHang('t1');
          hangs.push((await begin(nth))?.hangs);
        }
        await store.turns.countHang('unknown');
        expect(hangs).toEqual([undefined, 1, 2]);
      });

      it('[D13] becomes a dead letter without being read if giving it up also crashes the process', async () => {
        await store.inbox.accept(createMessage('m1'));
        for (const nth of [1, 2, 3]) {
          await begin(nth);
          await store.turns.countHang('t1');
        }
        await store.inbox.accept(createMessage('m2'));
        expect(await begin(4)).toMatchObject({ turnId: 't4', resumed: false });
        const reason = 'it blocked the process 3 times, until the watchdog ended it';
        expect(await store.deadLetters.open({ limit: 9 })).toMatchObject([
          { kind: 'unanswered', turnId: 't1', reason },
        ]);
      });
    });

    describe('a lane whose claim crashes its process', () => {
      const work = { conversationId: 'web:c1', owner: 'w1', leaseMs: 1_000 };
      const drop = (now: number) =>
        store.lanes.drop(work, { turnId: 'dropped', reason: 'claiming it: started 5 times' }, now);

      it('[D13] is given up without being read: its messages become a dead letter, and later messages are answered', async () => {
        await store.inbox.accept(createMessage('m1'));
        await store.inbox.accept(createMessage('m2'));
        expect(await drop(1)).toEqual({ kind: 'dropped', route: createTestRoute('c1') });
        const [letter, ...others] = await store.deadLetters.open({ limit: 9 });
        expect(others).toEqual([]);
        expect(letter).toMatchObject({
          kind: 'unanswered',
          reason: 'claiming it: started 5 times',
          messages: [{ messageId: 'm1' }, { messageId: 'm2' }],
        });
        await store.inbox.accept(createMessage('m3'));
        const next = await store.lanes.begin(work, 'followup', 't2', 2);
        expect(next.kind === 'turn' && listMessageIds(next.turn)).toEqual(['m3']);
      });

      it('[D13] is given up together with its unfinished turn', async () => {
        await store.inbox.accept(createMessage('m1'));
        await store.lanes.begin(work, 'followup', 't1', 1);
        await store.inbox.accept(createMessage('m2'));
        expect(await drop(2)).toEqual({ kind: 'dropped', route: createTestRoute('c1') });
        const letters = await store.deadLetters.open({ limit: 9 });
        expect(letters.map((letter) => letter.kind === 'unanswered' && letter.turnId)).toEqual([
          'dropped',
          't1',
        ]);
        expect(await store.lanes.withWork(9_000, 9)).toEqual([]);
      });

      it('[D13] does not change if no message waits or another worker holds the lane', async () => {
        await store.inbox.accept(createMessage('m1'));
        await startTurn(store, 't1', 'web:c1', 'w2');
        await store.inbox.accept(createMessage('m2'));
        expect(await drop(1)).toEqual({ kind: 'held' });
        expect(await store.inbox.waiting('web:c1')).toBe(1);
        expect(await store.deadLetters.open({ limit: 9 })).toEqual([]);
        const empty = { ...work, conversationId: 'web:c2' };
        expect(await store.lanes.drop(empty, { turnId: 't', reason: '' }, 1)).toEqual({
          kind: 'none',
        });
      });
    });

    describe('the lease of a lane', () => {
      const work = (owner: string, leaseMs = 1_000) => {
        return { conversationId: 'web:c1', owner, leaseMs };
      };
      const begin = (owner: string) => store.lanes.begin(work(owner), 'collect', owner, 0);

      it('[D02] is granted to one worker, and another worker is told how long to wait', async () => {
        await store.inbox.accept(createMessage('m1'));
        await startTurn(store, 't1');
        database.setTime(400);
        expect(await begin('w2')).toEqual({ kind: 'busy', retryInMs: 600 });
      });

      it('[D02] is granted to exactly one of many simultaneous requests', async () => {
        await store.inbox.accept(createMessage('m1'));
        const results = await Promise.all(Array.from({ length: 20 }, (_, i) => begin(`w${i}`)));
        const kinds = results.map(({ kind }) => kind).toSorted();
        expect(kinds).toEqual([...Array(19).fill('busy'), 'turn']);
      });

      it('[D02] is granted together with the turn that another worker has just started', async () => {
        const chats = Array.from({ length: 10 }, (_, i) => `c${i}`);
        for (const chat of chats) {
          for (const nth of [1, 2])
            await store.inbox.accept(createMessage(`m${nth}-${chat}`, chat));
        }
        const begin = (chat: string, nth: number) => {
          const work = { conversationId: `web:${chat}`, owner: `w${nth}`, leaseMs: 0 };
          return store.lanes.begin(work, 'followup', `t-${chat}-${nth}`, 1);
        };
        const all = chats.flatMap((chat) => [1, 2, 3].map((nth) => begin(chat, nth)));
        const turns = (await Promise.all(all)).map((one) => one.kind === 'turn' && one.turn.turnId);
        expect(turns).not.toContain(false);
        expect(new Set(turns).size).toBe(chats.length);
      });

      it('passes to another worker with a higher epoch when it expires or is released', async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease: first } = await startTurn(store, 't1');
        database.setTime(1_000);
        const { lease: second } = await startTurn(store, 'unused', 'web:c1', 'w2');
        await store.lanes.release(second);
        const { lease: third } = await startTurn(store, 'unused', 'web:c1', 'w3');
        expect(second.epoch).toBeGreaterThan(first.epoch);
        expect(third.epoch).toBeGreaterThan(second.epoch);
      });

      it('[D02] reports an error instead of storing anything if the stored epoch has fallen', async () => {
        await store.inbox.accept(createMessage('m1'));
        await store.inbox.accept(createMessage('m2'));
        const { lease: held } = await startTurn(store, 't1', 'web:c1', 'w1', 'followup');
        const lease = { ...held, epoch: held.epoch + 1 };
        const fallen = expect.objectContaining({ code: 'store-rewound', retryable: false });
        const commit = createAnswer('t1', ['one']);
        await expect(store.lanes.commit(lease, commit, 2)).rejects.toEqual(fallen);
        expect(await store.lanes.commit(held, commit, 2)).toBe('committed');
        await expect(store.lanes.claim(lease, 'followup', 't2', 1)).rejects.toEqual(fallen);
        expect(listMessageIds(await claimNextTurn(store, held, 't2', 'followup'))).toEqual(['m2']);
      });

      it("can be acquired again by its owner, which fences the owner's earlier run", async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease: first } = await startTurn(store, 't1');
        await startTurn(store, 'unused');
        expect(await store.lanes.renew([first], 9_000)).toEqual({ renewed: [], busy: [] });
      });

      it('can be renewed until another worker acquires it, and not after it was lost or released', async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease } = await startTurn(store, 't1');
        expect(await store.lanes.renew([lease], 5_000)).toEqual({ renewed: ['web:c1'], busy: [] });
        database.setTime(4_000);
        expect(await begin('w2')).toEqual({ kind: 'busy', retryInMs: 1_000 });
        database.setTime(5_000);
        const { lease: taken } = await startTurn(store, 'unused', 'web:c1', 'w2');
        expect(await store.lanes.renew([lease], 9_000)).toEqual({ renewed: [], busy: [] });
        await store.lanes.release(lease);
        expect(await store.lanes.renew([taken], 9_000)).toEqual({ renewed: ['web:c1'], busy: [] });
        await store.lanes.release(taken);
        expect(await store.lanes.renew([taken], 9_000)).toEqual({ renewed: [], busy: [] });
      });

      it("[D05] is renewed together with the worker's other leases, but independently of them", async () => {
        const chats = Array.from({ length: 450 }, (_, nth) => `${nth}`);
        const leases = [];
        for (const chat of chats) {
          await store.inbox.accept(createMessage('m1', chat));
          leases.push((await startTurn(store, `t${chat}`, `web:${chat}`)).lease);
        }
        database.setTime(1_000);
        await startTurn(store, 'unused', 'web:7', 'w2');
        const { renewed } = await store.lanes.renew(leases, 5_000);
        const own = leases.map(({ conversationId }) => conversationId);
        expect([...renewed].sort()).toEqual(own.filter((lane) => lane !== 'web:7').sort());
        expect(await store.lanes.renew([], 9_000)).toEqual({ renewed: [], busy: [] });
      });

      it('[D13] expires after its duration if its worker crashed, even if the clock was set back', async () => {
        await store.inbox.accept(createMessage('m1'));
        database.setTime(3_600_000);
        await startTurn(store, 't1', 'web:c1', 'dead');
        database.setTime(0);
        expect(await store.lanes.withWork(9, 1_000)).toEqual(['web:c1']);
        expect(await begin('w2')).toEqual({ kind: 'busy', retryInMs: 1_000 });
        database.setTime(999);
        expect(await begin('w2')).toEqual({ kind: 'busy', retryInMs: 1 });
        database.setTime(1_000);
        expect((await begin('w2')).kind).toBe('turn');
      });

      it('[D13] lasts for its full duration when it is renewed after the clock was set back', async () => {
        await store.inbox.accept(createMessage('m1'));
        database.setTime(3_600_000);
        const { lease } = await startTurn(store, 't1');
        database.setTime(0);
        await store.lanes.renew([lease], 1_000);
        database.setTime(999);
        expect((await begin('w2')).kind).toBe('busy');
        database.setTime(1_000);
        expect((await begin('w2')).kind).toBe('turn');
      });

      it('is released with all other leases by releaseAll, which fences their holders', async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease } = await startTurn(store, 't1');
        await store.lanes.releaseAll();
        expect(await store.lanes.commit(lease, createAnswer('t1', ['late']), 1)).toBe('fenced');
        expect((await begin('w2')).kind).toBe('turn');
      });

      it('is released immediately if the lane has nothing to claim', async () => {
        await store.inbox.accept(createMessage('m1', 'c2'));
        expect(await begin('w1')).toEqual({ kind: 'none' });
        await store.inbox.accept(createMessage('m1'));
        expect((await begin('w2')).kind).toBe('turn');
      });
    });

    describe('claiming', () => {
      it('[D03] collect makes one turn from all waiting messages, in storage order', async () => {
        for (const id of ['m3', 'm1', 'm2']) await store.inbox.accept(createMessage(id));
        const { turn } = await startTurn(store, 't1');
        expect(turn).toMatchObject({ turnId: 't1', resumed: false, attempts: 0, steps: [] });
        expect(listMessageIds(turn)).toEqual(['m3', 'm1', 'm2']);
        expect(await store.inbox.waiting('web:c1')).toBe(0);
      });

      it('[D03] followup makes a separate turn from each message', async () => {
        for (const id of ['m1', 'm2']) await store.inbox.accept(createMessage(id));
        const { lease, turn } = await startTurn(store, 't1', 'web:c1', 'w1', 'followup');
        expect(listMessageIds(turn)).toEqual(['m1']);
        await store.lanes.commit(lease, createAnswer('t1', ['one']), 1);
        expect(listMessageIds(await claimNextTurn(store, lease, 't2', 'followup'))).toEqual(['m2']);
      });

      it('[D03] collect makes separate turns for messages with different destinations, in order', async () => {
        await store.inbox.accept(createMessage('m1', 'c1', { threadId: 'a' }));
        await store.inbox.accept(createMessage('m2', 'c1', { threadId: 'a' }));
        await store.inbox.accept(createMessage('m3', 'c1', { threadId: 'b' }));
        await store.inbox.accept(createMessage('m4', 'c1', { threadId: 'a' }));
        const { lease, turn } = await startTurn(store, 't1');
        const turns = [listMessageIds(turn)];
        for (const nth of [2, 3]) {
          await store.lanes.commit(lease, createAnswer(`t${nth - 1}`, []), 1);
          turns.push(listMessageIds(await claimNextTurn(store, lease, `t${nth}`)));
        }
        expect(turns).toEqual([['m1', 'm2'], ['m3'], ['m4']]);
      });

      it("does not find work in an empty lane, or return another lane's work", async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease } = await startTurn(store, 't1');
        await store.lanes.commit(lease, createAnswer('t1', []), 1);
        await store.inbox.accept(createMessage('m1', 'c2'));
        expect(await store.lanes.claim(lease, 'collect', 't2', 0)).toEqual({ kind: 'none' });
      });

      it('reports when the newest waiting message was received', async () => {
        expect(await store.lanes.newestWaiting('web:c1')).toBeNull();
        await store.inbox.accept(createMessage('m1', 'c1', { at: 70 }));
        await store.inbox.accept(createMessage('m2', 'c1', { at: 60 }));
        expect(await store.lanes.newestWaiting('web:c1')).toBe(70);
        await startTurn(store, 't1');
        expect(await store.lanes.newestWaiting('web:c1')).toBeNull();
      });

      it('[G16] resumes an unfinished turn with its id, messages and steps, and counts the attempt', async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease: dead } = await startTurn(store, 't1');
        await store.turns.appendStep(dead, 't1', { index: 0, content: { text: 'thought' } }, 1);
        await store.turns.appendStep(dead, 't1', { index: 1, content: ['called'] }, 2);
        await store.inbox.accept(createMessage('m2'));

        database.setTime(1_000);
        const { turn: second } = await startTurn(store, 'unused', 'web:c1', 'w2');
        expect(second).toMatchObject({ turnId: 't1', resumed: true, attempts: 1 });
        expect(listMessageIds(second)).toEqual(['m1']);
        expect(second.steps).toEqual([
          { index: 0, content: { text: 'thought' } },
          { index: 1, content: ['called'] },
        ]);
        database.setTime(2_000);
        const { lease, turn } = await startTurn(store, 'unused', 'web:c1', 'w3');
        expect(turn.attempts).toBe(2);
        await store.lanes.commit(lease, createAnswer('t1', ['done']), 3);
        expect(listMessageIds(await claimNextTurn(store, lease, 't2'))).toEqual(['m2']);
      });
    });

    describe('committing', () => {
      it('[D05] marks the answer that did not reach its chat in the history', async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease } = await startTurn(store, 't1');
        const entries = [
          { role: 'user', content: 'hello' },
          { role: 'assistant', content: 'hi' },
        ] as const;
        await store.lanes.commit(lease, { ...createAnswer('t1', ['one', 'two']), entries }, 9);
        const due = await store.outbox.next(createTestRoute('c1'));
        await store.outbox.markSending(due?.part.id ?? '', 10);
        await store.outbox.markFailed(due?.part.id ?? '', 'failed', 'blocked', 11, null);
        expect(await store.transcript.recent('web:c1', 0, 9)).toEqual([
          entries[0],
          { ...entries[1], undelivered: 'blocked' },
        ]);
      });

      it('[D04] commits history, parts, usage and messages together', async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease } = await startTurn(store, 't1');
        const usage = { model: 'offline', inputTokens: 10, outputTokens: 5, costUsd: 0.25 };
        const entries = [
          { role: 'user', content: 'hello' },
          { role: 'assistant', content: [{ type: 'text', text: 'hi\u0000' }] },
        ] as const;
        const commit = { ...createAnswer('t1', ['one', 'two']), entries, usage };
        expect(await store.lanes.commit(lease, commit, 9)).toBe('committed');

        expect(await store.transcript.recent('web:c1', 0, 9)).toEqual(entries);
        expect(await store.transcript.recent('web:c1', 0, 1)).toEqual([entries[1]]);
        const parts = await store.outbox.recent(createTestRoute('c1'), 9);
        expect(parts.map((entry) => entry.part.body.text)).toEqual(['one', 'two']);
        expect(parts.every((entry) => entry.part.turnId === 't1')).toBe(true);
        expect((await store.inbox.recent(createTestRoute('c1'), 1))[0]?.outcome).toBe('answered');
        expect(await store.turns.totals(9)).toEqual({
          answered: 1,
          failed: 0,
          stopped: 0,
          inputTokens: 10,
          outputTokens: 5,
          costUsd: 0.25,
          unpriced: 0,
        });
      });

      it('[D04] does not commit anything if the lease was lost', async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease: lost } = await startTurn(store, 't1');
        database.setTime(1_000);
        const { lease: now } = await startTurn(store, 'unused', 'web:c1', 'w2');

        expect(await store.lanes.commit(lost, createAnswer('t1', ['ghost']), 1_001)).toBe('fenced');
        expect(await store.transcript.recent('web:c1', 0, 9)).toEqual([]);
        expect(await store.outbox.next(createTestRoute('c1'))).toBeNull();
        expect((await store.inbox.recent(createTestRoute('c1'), 1))[0]?.outcome).toBeNull();
        expect((await store.turns.totals(0)).answered).toBe(0);
        expect(await store.lanes.commit(now, createAnswer('t1', ['real']), 1_002)).toBe(
          'committed',
        );
      });

      it('[D04] does not commit the same turn a second time', async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease } = await startTurn(store, 't1');
        await store.lanes.commit(lease, createAnswer('t1', ['once']), 1);
        expect(await store.lanes.commit(lease, createAnswer('t1', ['once']), 1)).toBe('fenced');
        expect(await store.outbox.recent(createTestRoute('c1'), 9)).toHaveLength(1);
      });

      it('[D04] accepts only one of two simultaneous commits', async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease } = await startTurn(store, 't1');
        const results = await Promise.all(
          Array.from({ length: 8 }, () =>
            store.lanes.commit(lease, createAnswer('t1', ['once']), 1),
          ),
        );
        expect(results.filter((result) => result === 'committed')).toHaveLength(1);
        expect(await store.outbox.recent(createTestRoute('c1'), 9)).toHaveLength(1);
      });

      it("rejects a turn from another lane, even with a valid lease on the worker's own lane", async () => {
        await store.inbox.accept(createMessage('m1', 'c2'));
        await startTurn(store, 't2', 'web:c2');
        await store.inbox.accept(createMessage('m1'));
        const { lease } = await startTurn(store, 't1');
        expect(await store.lanes.commit(lease, createAnswer('t2', ['wrong']), 1)).toBe('fenced');
      });

      it('does not send the reason for a silent or failed turn', async () => {
        await store.inbox.accept(createMessage('m1'));
        const { lease } = await startTurn(store, 't1');
        const silent = {
          ...createAnswer('t1', []),
          outcome: 'silent',
          reason: 'not addressed',
        } as const;
        expect(await store.lanes.commit(lease, silent, 1)).toBe('committed');
        expect((await store.inbox.recent(createTestRoute('c1'), 1))[0]?.outcome).toBe('silent');
        expect(await store.outbox.next(createTestRoute('c1'))).toBeNull();
      });
    });

    describe('the sweep', () => {
      it('finds lanes with waiting messages or unfinished turns, the longest waiting first', async () => {
        await store.inbox.accept(createMessage('m1', 'late', { at: 30 }));
        await store.inbox.accept(createMessage('m1', 'early', { at: 10 }));
        await store.inbox.accept(createMessage('m2', 'early', { at: 40 }));
        await store.inbox.accept(createMessage('m1', 'started', { at: 5 }));
        const { lease: started } = await startTurn(store, 't1', 'web:started');
        await store.lanes.release(started);
        await store.inbox.accept(createMessage('m1', 'done'));
        const { lease: done } = await startTurn(store, 't2', 'web:done');
        await store.lanes.commit(done, createAnswer('t2', []), 1);
        await store.lanes.release(done);

        expect(await store.lanes.withWork(9, 1_000)).toEqual([
          'web:started',
          'web:early',
          'web:late',
        ]);
        expect(await store.lanes.withWork(1, 1_000)).toEqual(['web:started']);
      });

      it('skips lanes that a live worker holds', async () => {
        await store.inbox.accept(createMessage('m1'));
        await startTurn(store, 't1');
        database.setTime(999);
        expect(await store.lanes.withWork(9, 1_000)).toEqual([]);
        database.setTime(1_000);
        expect(await store.lanes.withWork(9, 1_000)).toEqual(['web:c1']);
      });
    });
  });
}
