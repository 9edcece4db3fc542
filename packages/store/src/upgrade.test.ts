import { afterAll, describe, expect, inject, it } from 'vitest';
import { type Database, dynamicStatement, parseStoreUrl } from './database.ts';
import { MIGRATIONS, type Migration, makeLedger, migrate } from './migrate.ts';
import { openStore } from './open-store.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { bothDatabases, schemaOf } from './testing/databases.ts';
import { filledRows, fillTables } from './testing/filled-rows.ts';

const clock = () => 100;

/** A step as a later release may have it: a column, an index, a table, and rows taken over into it. */
const LATER: Migration = {
  number: (MIGRATIONS.at(-1)?.number ?? 0) + 1,
  name: 'reactions',
  statements: (dialect) => [
    'alter table outbox add column reactions bigint not null default 0',
    'create index outbox_reactions on outbox (reactions) where reactions > 0',
    `create table given_up (
      seq ${dialect === 'sqlite' ? 'integer primary key autoincrement' : 'bigserial primary key'},
      part text not null references outbox (id)
    )`,
    "insert into given_up (part) select id from outbox where state = 'failed' order by seq",
  ],
};

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`the data of an older Parley on ${database.name}`, () => {
    afterAll(() => database.dispose());

    it('is all there after the upgrade, in the schema of a new one', async () => {
      await database.openBare();
      await using fresh = await openRaw(database.url());
      await migrate(fresh.database, [...MIGRATIONS, LATER], 'db', clock);
      const schema = await schemaOf(fresh.database);
      await database.openBare();
      await using old = await openRaw(database.url());
      await migrate(old.database, MIGRATIONS, 'db', clock);
      await fillTables(old.database);
      const before = await filledRows(old.database);
      const store = await openStore({ url: database.url(), clock });
      expect(await store.inbox.waiting('c2')).toBe(1);
      expect(await store.outbox.counts()).toMatchObject({ sent: 2, pending: 1, sending: 1 });
      await store.close();

      await migrate(old.database, [...MIGRATIONS, LATER], 'db', clock);

      expect(await filledRows(old.database)).toEqual(before);
      expect(Object.keys(before).length).toBeGreaterThan(20);
      expect(await schemaOf(old.database)).toEqual(schema);
      const rows = await old.database.read((sql) =>
        sql.all(dynamicStatement('select part, reactions from given_up join outbox on id = part')),
      );
      expect(rows).toEqual([{ part: 'p3', reactions: 0 }]);
    });

    it('[G05] knows which messages have buttons, and which were edited or deleted', async () => {
      await database.openBare();
      await using old = await openRaw(database.url());
      const before = MIGRATIONS.filter(({ number }) => number < 36);
      await migrate(old.database, before, 'db', clock);
      const bodies = [
        ['asked', { text: 'May I?', buttons: [{ label: 'Approve', data: '/approve ABC234' }] }],
        ['quoting', { text: 'He wrote "buttons":[{"label":"Approve"}] to me' }],
        ['plain', { text: 'I am back.' }],
        ['edit', { text: 'The weather is fine.', act: { kind: 'edit', messageId: 'm-asked' } }],
        ['delete', { text: '', act: { kind: 'delete', messageId: 'm-plain' } }],
      ] as const;
      const add =
        dynamicStatement(`insert into outbox (id, idempotency_key, channel, account, chat_id, route,
          body, state, not_before, created_at, updated_at, platform_message_id)
        values (:id, :id, 'web', 'default', 'c1', '{}', :body, 'sent', 0, 0, 0, :messageId)`);
      for (const [id, body] of bodies) {
        const row = { id, body: JSON.stringify(body), messageId: `m-${id}` };
        await old.database.change('power-cut', add, row);
      }

      await migrate(old.database, MIGRATIONS, 'db', clock);

      const found = dynamicStatement(
        'select id, has_buttons, changed, about from outbox order by seq',
      );
      const rows = await old.database.read((sql) => sql.all(found));
      expect(rows).toEqual([
        { id: 'asked', has_buttons: 1, changed: 'edited', about: null },
        { id: 'quoting', has_buttons: 0, changed: null, about: null },
        { id: 'plain', has_buttons: 0, changed: 'deleted', about: null },
        { id: 'edit', has_buttons: 0, changed: null, about: null },
        { id: 'delete', has_buttons: 0, changed: null, about: null },
      ]);
    });

    it('from before the first release is refused, with what to do, and nothing is changed', async () => {
      await database.openBare();
      await using old = await openRaw(database.url());
      await old.database.write(async (sql) => {
        await makeLedger(sql);
        const steps = "(1, 'x', '0.0.1', 0), (29, 'x', '0.0.1', 0)";
        await sql.run(dynamicStatement(`insert into parley_migration values ${steps}`));
      });
      const before = await schemaOf(old.database);
      await expect(openStore({ url: database.url(), clock })).rejects.toMatchObject({
        code: 'store-older',
        retryable: false,
        message: expect.stringMatching(/before 0\.1\.0.*Nothing was changed\. Use another data/),
      });
      expect(await schemaOf(old.database)).toEqual(before);
    });
  });
}

async function openRaw(url: string): Promise<AsyncDisposable & { database: Database }> {
  const address = parseStoreUrl(url);
  const database = address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
  return { database, [Symbol.asyncDispose]: () => database.close() };
}
