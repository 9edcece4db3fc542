import { systemTime } from '@parley/core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Database, defineDynamicStatement, parseStoreUrl } from './database.ts';
import { openStore } from './open-store.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import type { Store } from './store.ts';
import { listBothDatabases } from './testing/databases.ts';
import { createMessage } from './testing/messages.ts';

const LANE = 'web:c1';

/**
 * The exact statement with which a worker from before takeovers acquires a lane, and shortens a
 * lease that is too long.
 */
const ACQUIRE_LEASE = defineDynamicStatement(`
  update conversation set epoch = epoch + 1, lease_owner = :owner,
    lease_until = cast(extract(epoch from now()) * 1000 as bigint) + 8000
  where id = :conversationId
    and (lease_until is null or lease_until <= cast(extract(epoch from now()) * 1000 as bigint) or lease_owner = :owner)
  returning epoch`).rows<{ readonly epoch: number }>();

for (const database of listBothDatabases(inject('postgresUrl')).filter(
  ({ name }) => name === 'PostgreSQL',
)) {
  describe.runIf(database.available)('a worker from an older version of Parley', () => {
    let store: Store;
    let older: Database;
    beforeAll(async () => {
      await (await database.openEmpty()).close();
      const url = database.url();
      store = await openStore({ url, clock: systemTime.clock });
      older = await openPostgres({ url, name: parseStoreUrl(url).name });
      await store.inbox.accept(createMessage('m1'));
    });
    afterAll(async () => {
      await older.close();
      await store.close();
      await database.dispose();
    });

    const acquire = () =>
      older.write((sql) => sql.get(ACQUIRE_LEASE, { conversationId: LANE, owner: 'older' }));

    it('[U12] [D18] cannot acquire a conversation that a person has taken over until it is handed back', async () => {
      await store.takeovers.takeOver({ conversationId: LANE, by: 'Ann', lastsMs: 60_000 });
      await expect(acquire()).rejects.toThrow(/a person leads conversation web:c1/);
      await store.takeovers.handBack(LANE, 'Ann');
      expect(await acquire()).toEqual({ epoch: 2 });
    });

    it('[U12] [D18] loses its conversation when a person takes it over, and cannot renew the lease', async () => {
      await acquire();
      await store.takeovers.takeOver({ conversationId: LANE, by: 'Ann', lastsMs: 60_000 });
      await expect(acquire()).rejects.toThrow(/a person leads/);
      const lease = { conversationId: LANE, epoch: 3 };
      expect(await store.lanes.renew([lease], 8_000)).toEqual({ renewed: [], busy: [] });
      await store.takeovers.handBack(LANE, 'Ann');
    });

    it('[U12] [D18] can acquire a conversation again once the takeover has expired', async () => {
      await store.takeovers.takeOver({ conversationId: LANE, by: 'Ann', lastsMs: 1 });
      await expect.poll(acquire).toMatchObject({ epoch: expect.any(Number) });
    });
  });
}
