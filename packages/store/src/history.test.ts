import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { openStore } from './open-store.ts';
import { HistoryCache } from './remembered-history.ts';
import type { Store } from './store.ts';
import { createSqliteForTests, listDatabasesOfDay } from './testing/databases.ts';
import {
  createAnswer,
  createMessage,
  createPart,
  createTestRoute,
  startTurn,
} from './testing/messages.ts';

const PLACE = { conversationId: 'web:c1', session: 0, reader: 'owner' };
const LIMIT = 4;

async function answered(
  by: Store,
  nth: number,
  outcome: 'answered' | 'failed' = 'answered',
  text = `says ${nth}`,
) {
  await by.inbox.accept({ ...createMessage(`m${nth}`), fromOwner: true });
  const { lease } = await startTurn(by, `t${nth}`);
  const commit = createAnswer(`t${nth}`, [text]);
  await by.lanes.commit(lease, { ...commit, outcome }, nth);
}

for (const database of listDatabasesOfDay(inject('postgresUrl'))) {
  describe.runIf(database.available)(
    `the history that every turn reads, on ${database.name}`,
    () => {
      let store: Store;
      let other: Store;
      beforeEach(async () => {
        await other?.close();
        store = await database.openEmpty();
        other = await openStore({ url: database.url(), clock: () => 0 });
        await answered(store, 1);
        await sameHistory();
      });
      afterAll(async () => {
        await other.close();
        await database.dispose();
      });

      const read = (by: Store, limit = LIMIT) => by.transcript.sinceSummary(PLACE, limit);

      /**
       * Checks that a process with cached history reads the same entries as a process without a
       * cache.
       */
      async function sameHistory() {
        const fresh = await openStore({ url: database.url(), clock: () => 0 });
        try {
          const expected = await read(fresh);
          expect(await read(store)).toEqual(expected);
          return expected.entries.map(({ content, undelivered }) =>
            undelivered === undefined ? content : `${content} (${undelivered})`,
          );
        } finally {
          await fresh.close();
        }
      }

      const sending = async () => {
        const id = (await store.outbox.next(createTestRoute('c1')))?.part.id ?? '';
        await store.outbox.markSending(id, 1);
        return id;
      };
      const notSent = async () =>
        store.outbox.markFailed(await sending(), 'failed', 'gone', 1, createPart('not sent'));

      it('grows with each turn, up to its limit', async () => {
        for (let nth = 2; nth <= 6; nth += 1) {
          await answered(store, nth);
          await sameHistory();
        }
        expect(await sameHistory()).toEqual(['says 3', 'says 4', 'says 5', 'says 6']);
        await store.outbox.markSent(await sending(), 'p', 1);
        expect(await sameHistory()).toHaveLength(LIMIT);
      });

      it('[D02] includes turns that another process has written', async () => {
        await answered(other, 2);
        expect(await sameHistory()).toEqual(['says 1', 'says 2']);
      });

      it('[D05] marks answers as undelivered until they are resent', async () => {
        await notSent();
        expect(await sameHistory()).toEqual(['says 1 (gone)']);
        const [letter] = await store.deadLetters.open({ before: 99, limit: 5 });
        await store.deadLetters.replay(letter?.id ?? 0, 'even-twice', 2);
        expect(await sameHistory()).toEqual(['says 1']);
      });

      it('[D06] leaves out a turn that is replayed', async () => {
        await answered(store, 2, 'failed');
        await sameHistory();
        const [letter] = await store.deadLetters.open({ before: 99, limit: 5 });
        await store.deadLetters.replay(letter?.id ?? 0, 'even-twice', 2);
        expect(await sameHistory()).toEqual(['says 1']);
      });

      it('[G15] does not contain forgotten text, whichever process removed it', async () => {
        const forgetting = { conversations: ['web:c1'], ownersToo: false };
        await store.forgetting.forget({ ...forgetting, phrases: ['says'] });
        expect(await sameHistory()).toEqual(['[forgotten] 1']);
        await other.forgetting.forget({ ...forgetting, phrases: ['1'] });
        expect(await sameHistory()).toEqual(['[forgotten] [forgotten]']);
      });

      it('[D15] does not contain anything older than the retention period', async () => {
        await answered(store, 2);
        await sameHistory();
        const ages = { messages: 1, history: 1, decisions: 1, prompts: 1, spend: 1 };
        const now = 10 * 24 * 60 * 60_000;
        const pace = { clock: () => now, countFrom: now, pause: async () => true };
        await store.retention.run({ ages, bytes: Number.POSITIVE_INFINITY }, pace);
        expect(await sameHistory()).toEqual([]);
      });

      it('[G11] starts after the newest summary', async () => {
        for (const nth of [2, 3]) await answered(store, nth);
        const [first, second] = (await read(store)).entries;
        const summary = { ...PLACE, kind: 'history', mark: '0' } as const;
        for (const [mark, reaches] of [first?.seq, second?.seq].entries()) {
          const task = { ...summary, mark: String(mark) };
          await store.summaries.claim(task, { by: 'one', now: 0, claimMs: 9, impatient: true });
          await store.summaries.finish(task, 'one', { content: { mark }, reaches: reaches ?? 0 });
          await sameHistory();
        }
        await answered(store, 4);
        expect(await sameHistory()).toEqual(['says 3', 'says 4']);
      });
    },
  );
}

describe('cached history', () => {
  const sqlite = createSqliteForTests();
  afterAll(() => sqlite.dispose());

  it('parses the history once while only one process uses the file', async () => {
    const store = await sqlite.openEmpty();
    await answered(store, 1);
    const before = await store.transcript.sinceSummary(PLACE, LIMIT);
    await answered(store, 2);
    const after = await store.transcript.sinceSummary(PLACE, LIMIT);
    expect(after.entries).toHaveLength(2);
    expect(after.entries[0]).toBe(before.entries[0]);
  });

  it('does not count entries that have left the window of a long conversation', async () => {
    const store = await sqlite.openEmpty();
    const text = 'x'.repeat(300_000);
    await answered(store, 1, 'answered', text);
    let before = await store.transcript.sinceSummary(PLACE, LIMIT);
    for (let nth = 2; nth <= 9; nth += 1) {
      await answered(store, nth, 'answered', text);
      const after = await store.transcript.sinceSummary(PLACE, LIMIT);
      expect(after.entries.at(-2)).toBe(before.entries.at(-1));
      before = after;
    }
  });

  const session = { entries: [], reaches: 0, characters: 40 };

  it('drops the least recently read entries beyond its limit', () => {
    const memory = new HistoryCache(100);
    for (const key of ['a', 'b', 'a', 'c']) memory.set(key, 0, session);
    const kept = ['a', 'b', 'c'].filter((key) => memory.get(key, 0) !== undefined);
    expect(kept).toEqual(['a', 'c']);
    memory.set('long', 0, { ...session, characters: 101 });
    expect(memory.get('long', 0)).toBeUndefined();
  });

  it('drops cached history when the history version changes', () => {
    const memory = new HistoryCache(100);
    memory.set('a', 0, session);
    expect(memory.get('a', 1)).toBeUndefined();
    expect(memory.get('a', 0)).toBeUndefined();
  });
});
