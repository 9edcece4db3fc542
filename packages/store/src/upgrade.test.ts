import { afterAll, describe, expect, inject, it } from 'vitest';
import { type Database, defineDynamicStatement, parseStoreUrl, type SqlValue } from './database.ts';
import { createMigrationTable, MIGRATIONS, type Migration, migrate } from './migrate.ts';
import { openStore } from './open-store.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { listBothDatabases, readSchema } from './testing/databases.ts';
import { fillTables, readFixtureRows } from './testing/filled-rows.ts';

const clock = () => 100;

/**
 * A migration such as a later release may contain: a column, an index, a table, and rows copied
 * into it.
 */
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

const CHAT = { channel: 'web', account: 'default', chat_id: 'c1' };
const LANE = { conversation_id: 'web:c1', session: 0 };
const MADE = { created_at: 0 };

/** Rows of a database whose tables and columns still have their names from before migration 38. */
const WITH_FORMER_NAMES: readonly (readonly [
  table: string,
  row: Readonly<Record<string, SqlValue>>,
])[] = [
  ['conversation', { id: 'web:c1', ...MADE }],
  [
    'adapter_value',
    { channel: 'whatsapp', account: 'default', kind: 'creds', id: 'i', value: 'a key' },
  ],
  ['session_pin', { ...LANE, pin_key: 'soul:SOUL.md', content: '"calm"', pinned_at: 0 }],
  [
    'summary',
    {
      ...{ ...LANE, reader: 'owner', kind: 'history', mark: '0', reaches: 4, content: '"tea"' },
      ...{ claimed_until: 0, ...MADE },
    },
  ],
  [
    'cron_job',
    {
      ...{
        id: 'job_1',
        asked_by: 'call:1',
        conversation_id: 'web:c1',
        from_owner: 1,
        title: 'Tea',
      },
      ...{ origin: '{"channel":"web"}', route: '{}', task: 'Make tea.', state: 'done', last_at: 1 },
      ...{ timetable: '{"kind":"once","at":1}', last_message: 'cron:1', ...MADE },
    },
  ],
  [
    'decision',
    {
      ...{ ...CHAT, message_id: 'm1', sender_id: 'u1', decided_at: 0 },
      ...{ outcome: 'refused', reason: 'stranger' },
    },
  ],
  ['soul', { agent: 'main', next_number: 1 }],
  [
    'soul_version',
    {
      ...{ agent: 'main', number: 0, asked_by: 'edit:1', text: 'Be calm.', head: 'Be calm.' },
      ...{ author: 'person', by_whom: 'web:owner', reason: 'why not', diff: '', state: 'applied' },
      ...MADE,
    },
  ],
  [
    'link_code',
    {
      ...{ code: 'ABC', maker_id: 'web:owner', maker_route: '{}', maker_is_owner: 1 },
      ...{ typist_id: 'telegram:7', typist_route: '{}', expires_at: 9 },
    },
  ],
  [
    'group_context',
    {
      ...{
        ...CHAT,
        conversation_id: 'web:c1',
        message_id: 'm2',
        sender_id: 'u1',
        sender_name: 'Bo',
      },
      ...{ text: 'tea?', heard_at: 5 },
    },
  ],
  ['search_reach', { source: 'inbox', seq: 7 }],
];

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(
    `data from an older version of Parley on ${database.name}`,
    () => {
      afterAll(() => database.dispose());

      it('keeps all data from an older version after the upgrade, in the same schema as a new database', async () => {
        await database.openBare();
        await using fresh = await openRaw(database.url());
        await migrate(fresh.database, [...MIGRATIONS, LATER], 'db', clock);
        const schema = await readSchema(fresh.database);
        await database.openBare();
        await using old = await openRaw(database.url());
        await migrate(old.database, MIGRATIONS, 'db', clock);
        await fillTables(old.database);
        const before = await readFixtureRows(old.database);
        const store = await openStore({ url: database.url(), clock });
        expect(await store.inbox.waiting('c2')).toBe(1);
        expect(await store.outbox.counts()).toMatchObject({ sent: 2, pending: 1, sending: 1 });
        await store.close();

        await migrate(old.database, [...MIGRATIONS, LATER], 'db', clock);

        expect(await readFixtureRows(old.database)).toEqual(before);
        expect(Object.keys(before).length).toBeGreaterThan(20);
        expect(await readSchema(old.database)).toEqual(schema);
        const rows = await old.database.read((sql) =>
          sql.all(
            defineDynamicStatement('select part, reactions from given_up join outbox on id = part'),
          ),
        );
        expect(rows).toEqual([{ part: 'p3', reactions: 0 }]);
      });

      it('[G05] shows which messages have buttons, and which were edited or deleted', async () => {
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
          defineDynamicStatement(`insert into outbox (id, idempotency_key, channel, account, chat_id, route,
          body, state, not_before, created_at, updated_at, platform_message_id)
        values (:id, :id, 'web', 'default', 'c1', '{}', :body, 'sent', 0, 0, 0, :messageId)`);
        for (const [id, body] of bodies) {
          const row = { id, body: JSON.stringify(body), messageId: `m-${id}` };
          await old.database.change('power-cut', add, row);
        }

        await migrate(old.database, MIGRATIONS, 'db', clock);

        const found = defineDynamicStatement(
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

      it('[D18] returns data under the current names of tables and columns', async () => {
        await database.openBare();
        await using old = await openRaw(database.url());
        const before = MIGRATIONS.filter(({ number }) => number < 38);
        await migrate(old.database, before, 'db', clock);
        for (const [table, row] of WITH_FORMER_NAMES) {
          const names = Object.keys(row);
          const insert = `insert into ${table} (${names}) values (${names.map((name) => `:${name}`)})`;
          await old.database.change('power-cut', defineDynamicStatement(insert), row);
        }

        const store = await openStore({ url: database.url(), clock });
        const lane = { conversationId: 'web:c1', session: 0 };
        const values = await store.adapterValues('whatsapp', 'default').get('creds', ['i']);
        expect(values.get('i')).toBe('a key');
        expect(await store.pins.fix(lane, 'soul:SOUL.md', 'loud', 9)).toBe('calm');
        const summary = await store.summaries.latest({ ...lane, reader: 'owner' });
        expect(summary).toEqual({ content: 'tea', reaches: 4 });
        const chat = { channel: 'web', account: 'default', chatId: 'c1' };
        const refused = { messageId: 'm1', outcome: 'refused', reason: 'stranger' };
        expect(await store.decisions.stories(chat, 9)).toMatchObject([refused]);
        await store.close();

        const rest =
          defineDynamicStatement(`select cron_job.request_key as call, last_message_id, soul_version.request_key, proposed_by, creator_id, redeemer_id,
        received_at, reached from cron_job, soul_version, link_code, group_context,
        (select seq as reached from search_index_progress) as progress`);
        expect(await old.database.read((sql) => sql.all(rest))).toMatchObject([
          {
            ...{
              call: 'call:1',
              last_message_id: 'cron:1',
              request_key: 'edit:1',
              proposed_by: 'web:owner',
            },
            ...{ creator_id: 'web:owner', redeemer_id: 'telegram:7', received_at: 5, reached: 7 },
          },
        ]);
      });

      it('refuses data from before the first release with advice, and does not change it', async () => {
        await database.openBare();
        await using old = await openRaw(database.url());
        await old.database.write(async (sql) => {
          await createMigrationTable(sql);
          const steps = "(1, 'x', '0.0.1', 0), (29, 'x', '0.0.1', 0)";
          await sql.run(defineDynamicStatement(`insert into parley_migration values ${steps}`));
        });
        const before = await readSchema(old.database);
        await expect(openStore({ url: database.url(), clock })).rejects.toMatchObject({
          code: 'store-older',
          retryable: false,
          message: expect.stringMatching(
            /older than 0\.1\.0.*Nothing was changed\. Use another data/,
          ),
        });
        expect(await readSchema(old.database)).toEqual(before);
      });
    },
  );
}

async function openRaw(url: string): Promise<AsyncDisposable & { database: Database }> {
  const address = parseStoreUrl(url);
  const database = address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
  return { database, [Symbol.asyncDispose]: () => database.close() };
}
