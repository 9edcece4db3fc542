import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Durability, IN_MEMORY } from './database.ts';
import { MIGRATIONS, migrate } from './migrate.ts';
import { openStore } from './open-store.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import type { Store } from './store.ts';
import { compareStoreMarks } from './store-mark.ts';
import { type StoreRollback, StoreState } from './store-state.ts';
import { listBothDatabases, type TestDatabase } from './testing/databases.ts';
import { createAnswer, createMessage, createPart, startTurn } from './testing/messages.ts';

describe('compareStoreMarks', () => {
  const seen = { name: 'a', counter: 7 };
  it.each([
    [null, { name: 'a', counter: 1 }, 'first'],
    [seen, { name: 'a', counter: 7 }, 'onward'],
    [seen, { name: 'a', counter: 9 }, 'onward'],
    [seen, { name: 'a', counter: 6 }, 'behind'],
    [seen, { name: 'b', counter: 1 }, 'other'],
  ] as const)('[D01] compares marks %j and %j: %s', (before, found, verdict) => {
    expect(compareStoreMarks(before, found)).toBe(verdict);
  });
});

it('[D01] [D17] syncs the raised mark to disk, so that a power cut does not look like a database rollback', async () => {
  const database = openSqlite({ path: IN_MEMORY, name: 'the database' });
  await migrate(database, MIGRATIONS, 'the database', () => 0);
  const survived: Durability[] = [];
  const watched: typeof database = {
    ...database,
    write(work, durability = 'power-cut') {
      survived.push(durability);
      return database.write(work, durability);
    },
  };
  const state = new StoreState(watched, {
    clock: () => 0,
    newId: (kind) => `${kind}-1`,
    forget: [],
    onSetback: () => undefined,
  });
  for (let round = 0; round < 3; round += 1) await state.advance();
  expect(state.seen).toEqual({ name: 'database-1', counter: 3 });
  expect(new Set(survived)).toEqual(new Set(['power-cut']));
  await database.close();
});

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`a rolled-back database on ${database.name}`, () => {
    let store: Store;
    const opened: Store[] = [];
    let setbacks: StoreRollback[];
    beforeEach(async () => {
      await (await database.openEmpty()).close();
      setbacks = [];
      store = await process();
      for (let round = 0; round < 5; round += 1) await store.state.advance();
    });
    afterAll(async () => {
      for (const one of opened) await one.close();
      await database.dispose();
    });

    async function process(): Promise<Store> {
      const onSetback = (setback: StoreRollback) => void setbacks.push(setback);
      const state = { seen: null, forget: [{ channel: 'web', kind: 'seen' }], onSetback };
      const one = await openStore({ url: database.url(), clock: () => 1_000, state });
      opened.push(one);
      await one.state.advance();
      return one;
    }

    /**
     * Leaves a claimed message, a waiting message, an unsent part, and an adapter's read position.
     */
    async function leaveWork() {
      await store.inbox.accept(createMessage('m1'));
      const { lease } = await startTurn(store, 't1');
      await store.inbox.accept(createMessage('m2', 'c2'));
      await store.outbox.enqueue([createPart('unsent', 'c3')], 0);
      await store.adapterValues('web', 'default').set([{ kind: 'seen', id: 'x', value: '1' }]);
      return lease;
    }

    it('[D01] [D04] detects a rollback at the next renewal, turns uncertain work into dead letters and fences turns', async () => {
      const lease = await leaveWork();
      await goBack(database, 3);
      await store.leases.renewAll('gateway', [], 1_000);
      expect(setbacks).toEqual([{ count: 1, at: 1_000, turns: 2, parts: 1 }]);
      expect(await store.state.lastSetback()).toEqual(setbacks[0]);
      expect(await store.deadLetters.counts()).toMatchObject({ unanswered: 2, uncertain: 1 });
      expect(await store.lanes.withWork(9, 1_000)).toEqual([]);
      expect(await store.lanes.commit(lease, createAnswer('t1', ['late']), 1)).toBe('fenced');
      expect((await store.adapterValues('web', 'default').get('seen', ['x'])).size).toBe(0);
    });

    it('[D01] settles a rollback once, even if all processes detect it simultaneously', async () => {
      const others = [await process(), await process()];
      await leaveWork();
      await goBack(database, 6);
      const all = [store, ...others];
      await Promise.all(all.map((one) => one.state.advance()));
      await store.inbox.accept(createMessage('later', 'c4'));
      for (const one of all) await one.state.advance();
      expect(setbacks).toHaveLength(1);
      expect(await store.lanes.withWork(9, 1_000)).toEqual(['web:c4']);
    });

    it('[D01] settles a rollback once, even if the first process to detect it has seen the least of the lost rows', async () => {
      const others = [await process(), await process()];
      for (const one of others)
        for (let round = 0; round < 5; round += 1) await one.state.advance();
      await leaveWork();
      await goBack(database, 15);
      await store.state.advance();
      await store.inbox.accept(createMessage('later', 'c4'));
      for (const one of others) await one.state.advance();
      expect(setbacks).toHaveLength(1);
      expect(await store.lanes.withWork(9, 1_000)).toEqual(['web:c4']);
    });

    it('[D01] detects a rollback when a process starts that has seen more than the database contains', async () => {
      await leaveWork();
      const seen = store.state.seen;
      if (seen === null) throw new Error('nothing was seen');
      await goBack(database, 2);
      const next = await process();
      expect(setbacks).toEqual([]);
      next.state.expect(seen);
      await next.state.advance();
      expect(setbacks).toMatchObject([{ count: 1, turns: 2, parts: 1 }]);
    });

    it('[D01] detects a rollback to a copy from before the database had a counter', async () => {
      await leaveWork();
      await query(database, 'delete from store_state');
      await store.state.advance();
      expect(setbacks).toMatchObject([{ turns: 2, parts: 1 }]);
    });

    it('[D01] does not report a rollback after a restore, which has already held the unfinished work', async () => {
      await leaveWork();
      await query(database, "update store_state set name = 'restored', counter = 0");
      await store.state.advance();
      expect(setbacks).toEqual([]);
      expect(store.state.seen).toEqual({ name: 'restored', counter: 1 });
    });

    it('[D16] detects a rollback without extra writes, while leases are renewed and processes recorded', async () => {
      const counter = () => store.state.seen?.counter ?? 0;
      const before = counter();
      await store.leases.renewAll('gateway', [], 1_000);
      const facts = { role: 'worker', host: 'here', pid: 1, address: 'http://a', version: '0' };
      await store.processes.heartbeat({ id: 'w', ...facts, role: 'worker' });
      expect(counter()).toBe(before + 2);
      expect(setbacks).toEqual([]);
    });

    // A SQLite file has no connections that could reach another server.
    if (database.name === 'PostgreSQL') {
      it('[D01] [D04] detects a rollback on the first new connection, before it runs any query', async () => {
        await leaveWork();
        await goBack(database, 1);
        await query(
          database,
          `select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'parley' and datname = current_database()`,
        );
        await expect
          .poll(() => store.lanes.withWork(9, 1_000).catch(() => ['away']))
          .not.toEqual(['away']);
        expect(await store.lanes.withWork(9, 1_000)).toEqual([]);
        expect(setbacks).toMatchObject([{ turns: 2, parts: 1 }]);
      });
    }

    it('[D01] refuses an empty database that was used before, and leaves it empty', async () => {
      const seen = store.state.seen;
      await database.openBare();
      const state = { seen, forget: [], onSetback: () => {} };
      const again = openStore({ url: database.url(), clock: () => 0, state });
      await expect(again).rejects.toMatchObject({ code: 'store-missing' });
      const known = openStore({
        url: database.url(),
        clock: () => 0,
        state: { ...state, seen: null },
      });
      await (await known).close();
    });
  });
}

/** Makes the database look as if its last rows had never been written. */
function goBack(database: TestDatabase, by: number): Promise<void> {
  return query(database, `update store_state set counter = counter - ${by}`);
}

async function query(database: TestDatabase, text: string): Promise<void> {
  if (database.name === 'SQLite') {
    const file = new DatabaseSync(database.url().slice('sqlite:'.length));
    file.exec(text);
    file.close();
    return;
  }
  const client = new Client({ connectionString: database.url() });
  await client.connect();
  await client.query(text);
  await client.end();
}
