import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { NewApproval } from './approval-rows.ts';
import type { CommandTransaction } from './commands.ts';
import type { Lease } from './rows.ts';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import {
  claimNextTurn,
  createAnswer,
  createMessage,
  createPart,
  listMessageIds,
  startTurn,
} from './testing/messages.ts';

const EXPIRES = 1_000;
const LANE = 'web:c1';

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`approvals and questions on ${database.name}`, () => {
    let store: Store;
    let lease: Lease;
    let made: number;
    beforeEach(async () => {
      made = 0;
      store = await database.openEmpty();
      await store.inbox.accept(createMessage('m1'));
      ({ lease } = await startTurn(store, 't1'));
    });
    afterAll(() => database.dispose());

    const question = (change: Partial<NewApproval> = {}): NewApproval => ({
      code: 'ABC234',
      turnId: 't1',
      callKey: 't1.0.0',
      tool: 'write',
      shown: '{"path":"a"}',
      askedBy: 'web:u1',
      place: 'web c1',
      askedIn: LANE,
      approvers: ['web:u2', 'telegram:7'],
      expiresAt: EXPIRES,
      ...change,
    });
    const ask = (change: Partial<NewApproval> = {}) =>
      store.approvals.ask(lease, question(change), [createPart('May I?')], 1);
    const command = <T>(
      run: (command: CommandTransaction) => Promise<T>,
      { at = 2, chat = 'c1' } = {},
    ) => {
      made += 1;
      return store.inbox.command(createMessage(`k${made}`, chat, { at }), run);
    };
    const stop = (at = 2) => command((one) => one.stop(), { at });
    const decide = (
      verdict: 'approved' | 'denied',
      { at = 2, by = 'web:u2', code = 'ABC234', chat = 'c1' } = {},
    ) => command((one) => one.decideApproval({ code, verdict, by }), { at, chat });
    const list = (chat: string) =>
      command((one) => one.decideApproval({ code: null, verdict: 'denied', by: 'web:u2' }), {
        chat,
      });
    /** Begins work on the lane as another worker, which has not seen the question. */
    const begin = (now = 5) => {
      database.setTime(now + 100_000);
      const work = { conversationId: LANE, owner: 'w2', leaseMs: 1_000 };
      return store.lanes.begin(work, 'collect', 't2', now + 100_000);
    };

    it('[G05] [D08] shows that a turn is waiting for a decision until the decision is made', async () => {
      const awaits = async () => {
        const chat = { channel: 'web', account: 'default', chatId: 'c1' };
        return (await store.decisions.stories(chat, 9)).map(({ turn }) => turn?.awaits);
      };
      expect(await awaits()).toEqual([undefined]);
      await ask();
      const { code, tool, approvers } = question();
      expect(await awaits()).toEqual([{ code, tool, approvers, expiresAt: EXPIRES }]);
      await decide('denied');
      expect(await awaits()).toEqual([undefined, undefined]);
    });

    it.each([
      ['in its own chat', 'c1'],
      ['in the chat of an owner', 'c9'],
    ])(
      '[G05] sends a decision made on the page once to the chat where the question was asked: %s',
      async (_where, chatId) => {
        await store.inbox.accept({ ...createMessage('o1', chatId), fromOwner: true });
        await ask({ askedIn: `web:${chatId}` });
        const decideOnPage = (verdict: 'approved' | 'denied') =>
          store.approvals.decide('ABC234', { verdict, by: 'console:owner' }, 2, (found, route) => [
            { ...createPart(found.kind), route },
          ]);
        await decideOnPage('denied');
        expect(await decideOnPage('approved')).toMatchObject({ kind: 'closed' });
        const sent = await store.outbox.recent({ channel: 'web', account: 'default', chatId }, 9);
        const asked = chatId === 'c1' ? ['May I?'] : [];
        expect(sent.map((one) => one.part.body.plain)).toEqual([...asked, 'decided']);
      },
    );

    it('[G05] [D02] does not claim a turn with an open question, and later messages wait behind it', async () => {
      expect(await ask()).toBe('asked');
      await store.inbox.accept(createMessage('m2'));
      await store.lanes.release(lease);
      expect(await store.lanes.withWork(9, 10_000)).toEqual([]);
      expect(await begin()).toEqual({ kind: 'suspended' });
      expect(await store.outbox.next(createPart('').route)).toMatchObject({
        part: { turnId: null, body: { plain: 'May I?' } },
      });
      await decide('approved');
      expect(await store.lanes.withWork(9, 10_000)).toEqual([LANE]);
      const again = await begin();
      if (again.kind !== 'turn') throw new Error(again.kind);
      expect(again.turn).toMatchObject({ turnId: 't1', resumed: true, attempts: 0 });
      expect(listMessageIds(again.turn)).toEqual(['m1']);
      await store.lanes.commit(again.lease, createAnswer('t1', ['done']), 9);
      expect(listMessageIds(await claimNextTurn(store, again.lease, 't2'))).toEqual(['m2']);
    });

    it('[G05] asks about a call only once, even if the request is repeated, and reports a code that is already in use', async () => {
      expect(await ask()).toBe('asked');
      expect(await ask({ code: 'ZZZ999' })).toBe('asked');
      expect(await ask({ callKey: 't1.0.1' })).toBe('code-taken');
      expect(await store.approvals.recent(9)).toHaveLength(1);
      expect(await store.outbox.recent(createPart('').route, 9)).toHaveLength(1);
    });

    it('[G05] [D02] rejects a question from a worker that has lost the lane', async () => {
      await stop();
      expect(await ask()).toBe('fenced');
      expect(await store.approvals.allow(lease, question(), 1)).toBe('fenced');
      expect(await store.approvals.recent(9)).toEqual([]);
    });

    it('[G05] accepts only one of two simultaneous decisions', async () => {
      await ask();
      const both = await Promise.all([
        decide('approved', { by: 'web:u2' }),
        decide('denied', { by: 'web:u3' }),
      ]);
      expect(both.map((one) => one?.kind).sort()).toEqual(['closed', 'decided']);
      const [first] = both.filter((one) => one?.kind === 'decided');
      const stored = await store.approvals.of('t1', 't1.0.0');
      expect(first).toMatchObject({ approval: { decidedBy: stored?.decidedBy } });
    });

    it.each([
      ['at the deadline', EXPIRES, 'closed'],
      ['just before the deadline', EXPIRES - 1, 'decided'],
    ])('[G05] returns the right verdict for a decision when %s', async (_when, at, kind) => {
      await ask();
      expect(await decide('approved', { at })).toMatchObject({ kind });
    });

    it('[G05] ignores a button press in another chat and does not show the question there', async () => {
      await ask({ askedIn: 'web:c9' });
      expect(await decide('approved')).toEqual({ kind: 'elsewhere' });
      expect(await list('c1')).toEqual({ kind: 'pending', approvals: [] });
      expect(await list('c9')).toMatchObject({ approvals: [{ code: 'ABC234' }] });
      expect(await decide('denied', { chat: 'c9' })).toMatchObject({ kind: 'decided' });
      expect(await decide('approved', { chat: 'c9' })).toMatchObject({ kind: 'closed' });
    });

    it('[G05] ignores an approval code that was never issued', async () => {
      await ask();
      expect(await decide('approved', { code: 'QQQ777' })).toEqual({ kind: 'unknown' });
      expect(await begin()).toEqual({ kind: 'suspended' });
    });

    it('[G05] expires an approval if nobody decides, and the turn continues', async () => {
      await ask();
      await store.lanes.release(lease);
      expect(await store.approvals.expire(EXPIRES - 1)).toEqual([]);
      expect(await store.approvals.expire(EXPIRES)).toEqual([LANE]);
      expect(await store.approvals.expire(EXPIRES)).toEqual([]);
      expect(await store.approvals.of('t1', 't1.0.0')).toMatchObject({ state: 'expired' });
      expect(await begin()).toMatchObject({ kind: 'turn', turn: { turnId: 't1' } });
    });

    it('[G05] keeps an approval open for exactly its duration when the clock is set back', async () => {
      await ask();
      await store.lanes.release(lease);
      const year = 365 * 24 * 3_600_000;
      const asked = await store.approvals.of('t1', 't1.0.0');
      const waits = EXPIRES - (asked?.askedAt ?? 0);
      const earlier = (asked?.askedAt ?? 0) - year;
      expect(await store.approvals.expire(earlier)).toEqual([]);
      expect(await store.approvals.waiting(earlier)).toHaveLength(1);
      expect(await store.approvals.expire(earlier + waits - 1)).toEqual([]);
      expect(await store.approvals.expire(earlier + waits)).toEqual([LANE]);
    });

    it('[G05] withdraws open approvals and sets waiting messages aside on /stop', async () => {
      await ask();
      await store.inbox.accept(createMessage('m2'));
      expect(await stop(3)).toMatchObject({
        stoppedTurn: 't1',
        setAside: 1,
      });
      expect(await store.approvals.of('t1', 't1.0.0')).toMatchObject({
        state: 'withdrawn',
        decidedBy: 'web:u1',
      });
      expect(await decide('approved')).toMatchObject({ kind: 'closed' });
      expect(await begin()).toEqual({ kind: 'none' });
      await store.inbox.accept(createMessage('m3'));
      expect(await begin()).toMatchObject({ kind: 'turn', turn: { turnId: 't2' } });
    });

    it('[G05] lists only the open questions of the current conversation when no code is given', async () => {
      await ask();
      expect(await list('c1')).toMatchObject({
        kind: 'pending',
        approvals: [{ code: 'ABC234' }],
      });
      expect(await list('c9')).toEqual({ kind: 'pending', approvals: [] });
    });

    it('[G05] records who decided what and when, and how the call ended', async () => {
      await ask();
      await decide('approved', { at: 7 });
      const settles = { callKey: 't1.0.0', failed: true };
      await store.turns.appendStep(lease, 't1', { index: 0, content: {}, settles }, 8);
      await store.approvals.allow(lease, question({ code: 'DEF567', callKey: 't1.1.0' }), 9);
      const asked = {
        ...{ rule: null, asker: 'Ada 🦜', text: 'text of m1' },
        chat: {
          channel: 'web',
          account: 'default',
          chatId: 'c1',
          chatType: 'direct',
          title: 'Ada 🦜',
        },
      };
      expect(await store.approvals.recent(2)).toEqual([
        {
          ...question({ code: 'DEF567', callKey: 't1.1.0' }),
          ...{ ...asked, seq: 2, decider: null },
          conversationId: LANE,
          state: 'auto',
          askedAt: 9,
          decidedBy: null,
          decidedAt: 9,
          result: null,
          choices: null,
          answer: null,
        },
        {
          ...question(),
          ...{ ...asked, seq: 1, decider: 'Ada 🦜' },
          conversationId: LANE,
          state: 'approved',
          askedAt: 1,
          decidedBy: 'web:u2',
          decidedAt: 7,
          result: 'failed',
          choices: null,
          answer: null,
        },
      ]);
      expect(await store.approvals.recent(1)).toHaveLength(1);
      expect(await store.approvals.recent(9, 2)).toMatchObject([{ code: 'ABC234' }]);
    });

    it('[G05] [U03] accepts only one of two simultaneous decisions on the page and in the chat', async () => {
      await ask({ askedIn: 'web:c9', rule: 'write:a' });
      const onPage = { verdict: 'denied', by: 'console:owner' } as const;
      const both = await Promise.all([
        decide('approved', { chat: 'c9' }),
        store.approvals.decide('ABC234', onPage, 2),
      ]);
      expect(both.map((one) => one?.kind).sort()).toEqual(['closed', 'decided']);
      expect(await store.approvals.decide('ABC234', onPage, 3)).toMatchObject({
        kind: 'closed',
        approval: { rule: 'write:a' },
      });
      expect(await store.approvals.decide('NOTONE', onPage, 3)).toEqual({ kind: 'unknown' });
      expect(await store.approvals.waiting(3)).toEqual([]);
    });

    it('[G05] [U03] shows approvals on the page until the deadline and rejects decisions after it', async () => {
      await ask();
      expect(await store.approvals.waiting(EXPIRES - 1)).toMatchObject([{ code: 'ABC234' }]);
      expect(await store.approvals.waiting(EXPIRES)).toEqual([]);
      const late = { verdict: 'approved', by: 'console:owner' } as const;
      expect(await store.approvals.decide('ABC234', late, EXPIRES)).toMatchObject({
        kind: 'closed',
      });
      await begin(EXPIRES);
    });

    it('[G05] closes each approval once before its turn can be claimed, for random sequences of events', async () => {
      const step = fc.constantFrom('approve', 'deny', 'expire', 'stop', 'later', 'begin');
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          store = await database.openEmpty();
          await store.inbox.accept(createMessage('m1'));
          ({ lease } = await startTurn(store, 't1'));
          await ask();
          await store.lanes.release(lease);
          let now = 2;
          let closings = 0;
          for (const next of steps) {
            if (next === 'later') now += 400;
            if (next === 'stop') await stop(now);
            if (next === 'expire') closings += (await store.approvals.expire(now)).length;
            if (next === 'approve' || next === 'deny') {
              const verdict = next === 'approve' ? 'approved' : 'denied';
              const found = await decide(verdict, { at: now });
              closings += found?.kind === 'decided' ? 1 : 0;
            }
            const state = (await store.approvals.of('t1', 't1.0.0'))?.state;
            if (next === 'begin') {
              const started = await begin(now);
              const goesOn = state === 'approved' || state === 'denied' || state === 'expired';
              if (!steps.includes('stop')) expect(started.kind === 'turn').toBe(goesOn);
              if (state === 'withdrawn') expect(started.kind).toBe('none');
            }
            expect(closings).toBeLessThanOrEqual(1);
            if (state === 'pending') expect(closings).toBe(0);
          }
        }),
        toRunOptions(database.name === 'SQLite' ? 25 : 10),
      );
    }, 60_000);
  });
}
