import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';
import { openStore } from './open-store.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { parseStoreUrl } from './store-url.ts';
import { bothDatabases } from './testing/databases.ts';
import { message } from './testing/messages.ts';

const known = MIGRATIONS.map(({ number, name }) => ({ number, name }));
const NOTE: Migration = {
  number: known.length + 1,
  name: 'note',
  statements: () => ['create table note (text text not null)', "insert into note values ('kept')"],
};
const BROKEN: Migration = {
  number: known.length + 2,
  name: 'broken',
  statements: () => ['drop table note', 'create table oops (', 'never reached'],
};

const clock = () => 0;

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`migrations on ${database.name}`, () => {
    let raw: Database;
    beforeEach(async () => {
      const store = await database.openEmpty();
      await store.inbox.accept(message('m1'));
      await store.close();
      const address = parseStoreUrl(database.url());
      raw = address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
      return () => raw.close();
    });
    afterAll(() => database.dispose());

    it('are applied once, and data survives a second opening', async () => {
      const again = await openStore({ url: database.url(), clock });
      expect(await again.inbox.waiting('web:c1')).toBe(1);
      await again.close();
      const applied = await raw.read((sql) =>
        sql.selectFrom('parley_migration').select(['number', 'name']).execute(),
      );
      expect(applied).toEqual(known);
    });

    it('leave the state before the failing step, all of it', async () => {
      const migrating = migrate(raw, [...MIGRATIONS, NOTE, BROKEN], 'db', clock);
      await expect(migrating).rejects.toMatchObject({ code: 'store-failed' });
      const notes = await raw.read((sql) =>
        // A table that only this test knows.
        sql.withTables<{ note: { text: string } }>().selectFrom('note').selectAll().execute(),
      );
      expect(notes.map((note) => note.text)).toEqual(['kept']);
      const newest = await raw.read((sql) =>
        sql.selectFrom('parley_migration').select('number').orderBy('number', 'desc').execute(),
      );
      expect(newest.map((row) => row.number)).toEqual([
        NOTE.number,
        ...known.map(({ number }) => number).reverse(),
      ]);
    });

    it('of several processes that start at once disturb each other not at all', async () => {
      const starts = Array.from({ length: 4 }, () =>
        migrate(raw, [...MIGRATIONS, NOTE], 'db', clock),
      );
      await Promise.all(starts);
      const applied = await raw.read((sql) =>
        sql.selectFrom('parley_migration').select('number').execute(),
      );
      expect(applied).toHaveLength(known.length + 1);
    });

    it('refuse a newer Parley’s data politely and change nothing', async () => {
      const future = { number: 99, name: 'future', parley_version: '7.3.0', applied_at: 0 };
      await raw.write((sql) => sql.insertInto('parley_migration').values(future).execute());
      const opening = openStore({ url: database.url(), clock });
      await expect(opening).rejects.toMatchObject({
        code: 'store-newer',
        retryable: false,
        message: expect.stringMatching(/written by Parley 7\.3\.0.*Update Parley, or use another/),
      });
      const rows = await raw.read((sql) =>
        sql.selectFrom('inbox').select(['message_id', 'state']).execute(),
      );
      expect(rows).toEqual([{ message_id: 'm1', state: 'waiting' }]);
    });
  });
}
