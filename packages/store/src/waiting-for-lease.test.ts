import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';
import { listBothDatabases } from './testing/databases.ts';
import { createMessage } from './testing/messages.ts';

const LEASE_MS = 60_000;

/** Takes one kind of lease, and identifies the row that stores its duration. */
const KINDS = [
  {
    name: 'a lane',
    row: { table: 'conversation', key: "id = 'web:c1'" },
    take: async (store: Store, owner: string) => {
      const work = { conversationId: 'web:c1', owner, leaseMs: LEASE_MS };
      return store.lanes.begin(work, 'collect', `turn of ${owner}`, 0);
    },
  },
  {
    name: 'a name',
    row: { table: 'lease', key: "name = 'account:a'" },
    take: (store: Store, owner: string) => store.leases.acquire('account:a', owner, LEASE_MS),
  },
];

// SQLite is left out, because it has neither a server clock nor transactions that wait for each
// other.
for (const database of listBothDatabases(inject('postgresUrl')).slice(1)) {
  describe.runIf(database.available)(`a lease on ${database.name}`, () => {
    let store: Store;
    let holder: Client;
    beforeEach(async () => {
      await database.openEmpty();
      store = await openStore({ url: database.url(), clock: Date.now });
      holder = new Client({ connectionString: database.url() });
      await holder.connect();
    });
    afterEach(async () => {
      await holder.end();
      await store.close();
    });
    afterAll(() => database.dispose());

    it.each(KINDS)(
      '[D02] does not shorten the lease of $name if another process waited for its renewal',
      async ({ row: { table, key }, take }) => {
        await store.inbox.accept(createMessage('m1'));
        await take(store, 'w1');
        await holder.query(`begin; select 1 from ${table} where ${key} for update`);
        const asked = take(store, 'w2');
        while (await isFree()) await sleep(5);
        const renewed = await holder.query(
          `update ${table} set lease_until = extract(epoch from clock_timestamp()) * 1000 + ${LEASE_MS}
         where ${key} returning lease_until`,
        );
        await holder.query('commit');
        expect(await asked).toMatchObject({ kind: 'busy' });
        const after = await holder.query(`select lease_until from ${table} where ${key}`);
        expect(after.rows).toEqual(renewed.rows);
      },
    );

    /** Checks that no connection is waiting for a row that the holder has locked. */
    async function isFree(): Promise<boolean> {
      const waiting = await holder.query('select 1 from pg_locks where not granted limit 1');
      return waiting.rows.length === 0;
    }
  });
}
