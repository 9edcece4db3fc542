import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from './store.ts';
import { listDatabasesOfDay } from './testing/databases.ts';
import { createMessage, listMessageIds } from './testing/messages.ts';

const LANE = 'web:c1';
const UNTIL = 10_000;
/** The maximum time for which a turn is postponed, in ms. */
const HOUR_MS = 3_600_000;

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(`[D13] a postponed turn on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
      await store.inbox.accept(createMessage('m1', 'c1'));
    });
    afterAll(() => database.dispose());

    function begin(turnId: string, now: number, busy: 'collect' | 'followup' = 'collect') {
      database.setTime(now);
      const lane = { conversationId: LANE, owner: 'w', leaseMs: 1_000 };
      return store.lanes.begin(lane, busy, turnId, now);
    }

    function workAt(now: number): Promise<readonly string[]> {
      database.setTime(now);
      return store.lanes.withWork(9, 1_000);
    }

    async function started(turnId: string, now: number) {
      const begun = await begin(turnId, now);
      if (begun.kind !== 'turn') throw new Error(`no turn: ${begun.kind}`);
      return begun;
    }

    /** Starts the turn, postpones it and releases the lane. */
    async function putOff(turnId: string, now: number, until = UNTIL) {
      const { lease, turn } = await started(turnId, now);
      const result = await store.lanes.putOff(lease, { turnId, until, reason: 'away' }, now);
      expect(result).toBe('committed');
      await store.lanes.release(lease);
      return turn;
    }

    it('is neither claimed nor swept before its time, and then resumes as the same turn', async () => {
      await putOff('t1', 100);
      expect(await workAt(UNTIL - 1)).toEqual([]);
      expect((await begin('t2', UNTIL - 1)).kind).toBe('suspended');
      expect(await workAt(UNTIL)).toEqual([LANE]);
      const { turn } = await started('t3', UNTIL);
      expect(turn).toMatchObject({ turnId: 't1', resumed: true, putOffSince: 100 });
      expect(listMessageIds(turn)).toEqual(['m1']);
    });

    it('keeps the time when it was first postponed, and none of its starts counts as an attempt', async () => {
      let now = 100;
      for (let nth = 0; nth < 8; nth += 1) {
        const turn = await putOff('t1', now, now + 1_000);
        expect(turn.attempts).toBe(0);
        now += 1_000;
      }
      expect((await started('t1', now)).turn).toMatchObject({ attempts: 0, putOffSince: 100 });
    });

    it.each(['collect', 'followup'] as const)(
      'returns its messages to the queue ahead of newer messages from a person (%s)',
      async (busy) => {
        await putOff('t1', 100);
        await store.inbox.accept(createMessage('m2', 'c1', { at: 200 }));
        const next = await begin('t2', 300, busy);
        if (next.kind !== 'turn') throw new Error(next.kind);
        expect(next.turn.turnId).toBe('t2');
        expect(listMessageIds(next.turn)).toEqual(busy === 'collect' ? ['m1', 'm2'] : ['m1']);
      },
    );

    it('survives /new like a running turn, and its answer belongs to the earlier session', async () => {
      await putOff('t1', 100);
      const command = { ...createMessage('n', 'c1', { at: 200 }) };
      await store.inbox.command(command, (command) => command.startSession());
      await store.inbox.accept(createMessage('m2', 'c1', { at: 300 }));
      expect((await begin('t2', 400)).kind).toBe('suspended');
      expect((await started('t3', UNTIL)).turn.turnId).toBe('t1');
    });

    it('is not postponed if its worker lost the lane or the turn has ended', async () => {
      const { lease } = await started('t1', 100);
      const off = { turnId: 't1', until: UNTIL, reason: 'away' };
      database.setTime(5_000);
      await started('unused', 5_000);
      expect(await store.lanes.putOff(lease, off, 100)).toBe('fenced');
      await store.inbox.command(createMessage('s', 'c1', { at: 6_000 }), (command) =>
        command.stop(),
      );
      database.setTime(7_000);
      await store.inbox.accept(createMessage('m3', 'c1', { at: 7_000 }));
      const again = await started('t2', 7_000);
      expect(await store.lanes.putOff(again.lease, off, 7_000)).toBe('fenced');
    });

    it('ignores a time that was computed before the clock was set back', async () => {
      await putOff('t1', UNTIL + HOUR_MS, UNTIL + HOUR_MS + 5_000);
      expect(await workAt(1_000)).toEqual([LANE]);
      expect((await started('t2', 1_000)).turn.turnId).toBe('t1');
    });
  });
}
