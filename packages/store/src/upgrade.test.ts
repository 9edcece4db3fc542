import { afterAll, describe, expect, inject, it } from 'vitest';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import { openStore } from './open-store.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { parseStoreUrl } from './store-url.ts';
import { bothDatabases } from './testing/databases.ts';
import { filledRows, fillTables } from './testing/filled-rows.ts';
import { schemaOf } from './testing/schema-of.ts';

const clock = () => 100;

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`the data of an older Parley on ${database.name}`, () => {
    afterAll(() => database.dispose());

    it.each([2, 9, 17, 21])(
      'that knew %i steps is all there after the upgrade, in the schema of a new one',
      async (level) => {
        await (await database.openEmpty()).close();
        await using fresh = await openRaw(database.url());
        const schema = await schemaOf(fresh.database);
        await database.openBare();
        await using old = await openRaw(database.url());
        await migrate(old.database, MIGRATIONS.slice(0, level), 'db', clock);
        await fillTables(old.database, level);
        const before = await filledRows(old.database, level);

        const store = await openStore({ url: database.url(), clock });
        expect(await filledRows(old.database, level)).toEqual(before);
        expect(Object.keys(before).length).toBeGreaterThan(5);
        expect(names(await schemaOf(old.database))).toEqual(names(schema));
        expect(await store.inbox.waiting('c2')).toBe(1);
        expect(await store.outbox.counts()).toMatchObject({ sent: 2, pending: 1, sending: 1 });
        await store.close();
      },
    );
  });
}

/** Without the text of tables: a column that was added later stands at their end. */
function names(schema: readonly object[]): readonly object[] {
  return schema.map((entry) =>
    'type' in entry && entry.type === 'table' ? { ...entry, sql: '' } : entry,
  );
}

async function openRaw(url: string): Promise<AsyncDisposable & { database: Database }> {
  const address = parseStoreUrl(url);
  const database = address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
  return { database, [Symbol.asyncDispose]: () => database.close() };
}
