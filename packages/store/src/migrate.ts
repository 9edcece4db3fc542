import { copyFileSync, linkSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Clock } from '@parley/core';
import manifest from '../package.json' with { type: 'json' };
import { composed, type Database, IN_MEMORY, type Sql, StoreError, statement } from './database.ts';
import { schema } from './schema.ts';

/** Any number that no other program on the same PostgreSQL is likely to lock. */
const MIGRATION_LOCK = 7_275_395;

/**
 * Brings the schema up to date in one transaction: after a failed step, or a kill in the middle, the
 * database is as it was, and the Parley before this one still starts on it. Throws StoreError
 * `store-newer` or `store-older`, having changed nothing, for a database that this Parley does not know.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  name: string,
  clock: Clock,
): Promise<void> {
  if (database.dialect === 'postgres' && (await isUpToDate(database, migrations, name))) return;
  await database.writeLong(async (sql) => {
    await onlyOne(database, sql);
    await makeLedger(sql);
    const applied = await sql.all(APPLIED);
    refuseUnknown(applied, migrations, name);
    const done = new Set(applied.map(({ number }) => number));
    const missing = migrations.filter(({ number }) => !done.has(number));
    await applySteps(database, sql, missing, clock());
  });
}

/** Looked at first, within the usual deadline: most starts find nothing to do. Throws as `migrate`. */
export async function isUpToDate(
  database: Database,
  migrations: readonly Migration[],
  name: string,
): Promise<boolean> {
  return database.read(async (sql) => {
    if ((await sql.get(IS_THERE))?.there !== true) return false;
    const applied = await sql.all(APPLIED);
    refuseUnknown(applied, migrations, name);
    return applied.length === migrations.length;
  });
}

const IS_THERE = statement("select to_regclass('parley_migration') is not null as there").rows<{
  readonly there: boolean;
}>();

/** Throws StoreError `store-missing` for a file of SQLite that is gone or empty, where one is known to have been. */
export function refuseEmptyFile(path: string, name: string): void {
  if (path !== IN_MEMORY && sizeOf(path) === 0) throw missing(name);
}

/** The same for a database on a server in which Parley has no tables. */
export async function refuseEmptyServer(database: Database, name: string): Promise<void> {
  const row = await database.read((sql) => sql.get(IS_THERE));
  if (row?.there !== true) throw missing(name);
}

/** Throws StoreError `store-not-empty` for a database on a server in which Parley has tables. */
export async function refuseUsedServer(database: Database, name: string): Promise<void> {
  const row = await database.read((sql) => sql.get(IS_THERE));
  if (row?.there !== true) return;
  throw new StoreError(
    'store-not-empty',
    `${name} already has data of Parley. Nothing was changed. Restore into an empty database: create another one and name it in store.url, or bring this one back with pg_restore.`,
  );
}

function missing(name: string): StoreError {
  return new StoreError(
    'store-missing',
    `${name} is empty or missing, but this data folder has been used with it before. Nothing was changed.`,
  );
}

/** The table that says which steps a database has seen. */
export async function makeLedger(sql: Sql): Promise<void> {
  await sql.run(MAKE_LEDGER);
}

const MAKE_LEDGER = composed(`create table if not exists parley_migration (
  number bigint not null primary key,
  name text not null,
  parley_version text not null,
  applied_at bigint not null
)`);

/** A step that a database has seen. */
interface AppliedStep {
  readonly number: number;
  readonly parley_version: string;
}

/** The steps that a database has seen. */
export const APPLIED = composed(
  'select number, parley_version from parley_migration order by number',
).rows<AppliedStep>();

/** The newest step that was applied and that this Parley does not know. */
export function newerStep(
  applied: readonly AppliedStep[],
  migrations: readonly Migration[],
): AppliedStep | null {
  const newest = migrations.at(-1)?.number ?? 0;
  const newer = applied.filter(({ number }) => number > newest);
  return newer.toSorted((a, b) => b.number - a.number)[0] ?? null;
}

/** Throws StoreError `store-newer` or `store-older` when a step was applied that this Parley does not know. */
export function refuseUnknown(
  applied: readonly AppliedStep[],
  migrations: readonly Migration[],
  name: string,
): void {
  const newer = newerStep(applied, migrations);
  if (newer !== null) {
    throw new StoreError(
      'store-newer',
      `The data in ${name} was written by Parley ${newer.parley_version}, which is newer than this one ` +
        `(${manifest.version}). Nothing was changed. Update Parley, or use another data folder.`,
    );
  }
  const known = new Set(migrations.map(({ number }) => number));
  if (applied.every(({ number }) => known.has(number))) return;
  throw new StoreError(
    'store-older',
    `The data in ${name} was written by a Parley from before 0.1.0, and this one (${manifest.version}) cannot ` +
      'read it. Nothing was changed. Use another data folder, or go on with the Parley that wrote it.',
  );
}

/**
 * On PostgreSQL several processes may start at once, and the first may take long: the others wait for
 * it however long that is. On SQLite the transaction is the lock.
 */
export async function onlyOne(database: Database, sql: Sql): Promise<void> {
  if (database.dialect !== 'postgres') return;
  await sql.run(composed('set local lock_timeout = 0'));
  // Of a process that was killed the server would finish the step first; known since version 14.
  await sql.run(
    composed(`select set_config(name, '1000', true) from pg_settings
      where name = 'client_connection_check_interval'`),
  );
  await sql.run(composed(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`));
}

/** Takes these steps, in their order, in the caller's transaction. */
export async function applySteps(
  database: Database,
  sql: Sql,
  steps: readonly Migration[],
  now: number,
): Promise<void> {
  for (const { number, name, statements } of steps) {
    for (const text of statements(database.dialect)) await sql.run(composed(text));
    await sql.run(APPLY, { number, name, version: manifest.version, now });
  }
}

const APPLY = composed(`insert into parley_migration (number, name, parley_version, applied_at)
  values (:number, :name, :version, :now)`);

/** One step of the schema. Never edited once released: a change is a further step. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  /** The statements for one dialect. */
  readonly statements: (dialect: Database['dialect']) => readonly string[];
}

/**
 * All steps, in the order in which they are applied. The first one is the whole schema; the numbers below it
 * belong to steps that existed before the first release.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    number: 31,
    name: 'schema',
    statements: (dialect) => [...schema(dialect), ...searchSchema(dialect)],
  },
  { number: 32, name: 'agents', statements: (dialect) => SPEND_OF_AGENTS[dialect] },
  {
    number: 33,
    name: 'state',
    statements: () => [
      // The moment to which ages were counted (D15); before this step that was the end of the round.
      'alter table retention_run add column counted_to bigint not null default 0',
      'update retention_run set counted_to = ended_at',
      // One row: which database this is, how far it has come, and how often it was found to have gone back.
      `create table store_state (
        id bigint not null primary key,
        name text not null,
        counter bigint not null,
        setbacks bigint not null,
        setback_at bigint,
        setback_turns bigint,
        setback_parts bigint
      )`,
    ],
  },
  { number: 34, name: 'files', statements: filesOutsideRows },
  {
    number: 35,
    name: 'put-off',
    // A turn whose model is away: since when, and when it is tried again.
    statements: () => [
      'alter table turn add column put_off_since bigint',
      'alter table turn add column put_off_until bigint',
    ],
  },
  { number: 36, name: 'words', statements: (dialect) => WORDS_OF_PARTS[dialect] },
  {
    number: 37,
    name: 'view-once files',
    statements: () => [
      // 1: its sender lets it be seen once; its bytes go with its turn.
      'alter table attachment add column view_once bigint',
      `create index attachment_view_once on attachment (inbox_seq)
        where view_once = 1 and ref <> '-'`,
    ],
  },
];

/**
 * Rows name the bytes of their file by `file_id`; what is in `bytes` stays there until it is dropped, a day after it was
 * stored. `person`: the sender of an attachment as their platform calls them. A file beside SQLite has no pieces.
 */
function filesOutsideRows(dialect: Database['dialect']): readonly string[] {
  const kept = 'where bytes is not null or file_id is not null';
  return [
    'alter table attachment add column file_id text',
    'alter table attachment add column person text',
    'alter table agent_file add column file_id text',
    'drop index attachment_kept',
    `create index attachment_kept on attachment (updated_at) ${kept}`,
    `create index attachment_person on attachment (channel, account, person) ${kept}`,
    'create index attachment_file on attachment (file_id) where file_id is not null',
    'drop index agent_file_kept',
    `create index agent_file_kept on agent_file (created_at) ${kept}`,
    'create index agent_file_file on agent_file (file_id) where file_id is not null',
    `create table file_piece (
      file_id text not null,
      piece_index bigint not null,
      bytes ${dialect === 'sqlite' ? 'blob' : 'bytea'} not null,
      primary key (file_id, piece_index)
    )`,
  ];
}

/**
 * Of a part: whose words it carries besides those of its turn and of the message that it answers (`about`: ids of
 * turns and people, one a line; null: stored before this step), whether people can press something below it, and
 * whether it was edited or deleted since.
 */
const wordsOfParts = (target: string) => [
  'alter table outbox add column about text',
  'alter table outbox add column has_buttons bigint not null default 0',
  'alter table outbox add column changed text',
  `create index outbox_buttons on outbox (channel, account, chat_id, platform_message_id)
    where has_buttons = 1`,
  `update outbox set has_buttons = 1 where body like '%"buttons":[{%'`,
  ...(['edit', 'delete'] as const).map(
    (act) => `update outbox set changed = '${act === 'edit' ? 'edited' : 'deleted'}'
      where (channel, account, chat_id, platform_message_id) in (
        select channel, account, chat_id, ${target} from outbox
        where body like '%"act":{"kind":"${act}",%')`,
  ),
];

const WORDS_OF_PARTS = {
  postgres: wordsOfParts("cast(body as json) #>> '{act,messageId}'"),
  sqlite: wordsOfParts("json_extract(body, '$.act.messageId')"),
};

/** What was spent, by agent as well (F14); empty: the default one. SQLite cannot change the key of a table. */
const SPEND_OF_AGENTS = {
  postgres: [
    "alter table spend add column agent text not null default ''",
    'alter table spend drop constraint spend_pkey',
    'alter table spend add primary key (day, person_id, group_id, agent)',
  ],
  sqlite: [
    'alter table spend rename to spend_before',
    `create table spend (
      day text not null,
      person_id text not null,
      group_id text not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cost_usd double precision not null,
      agent text not null default '',
      primary key (day, person_id, group_id, agent)
    )`,
    `insert into spend (day, person_id, group_id, input_tokens, output_tokens, cost_usd)
      select day, person_id, group_id, input_tokens, output_tokens, cost_usd from spend_before`,
    'drop table spend_before',
  ],
};

/** A log is a few megabytes; copying a much larger one would hold up the start. */
const LARGEST_LOG_BYTES = 64 * 1024 * 1024;

/**
 * The steps that a SQLite file has seen, without touching a byte of it or of its side files. Opening it
 * as usual would write: it takes over the log of a killed process. Null where this is unknown (no
 * such file, not a database, a file system without links): then opening decides.
 */
export function readAppliedSteps(path: string): readonly AppliedStep[] | null {
  try {
    if (sizeOf(path) === 0) return null;
    const log = sizeOf(`${path}-wal`);
    if (log > LARGEST_LOG_BYTES) return null;
    return log === 0 ? withoutLog(path) : throughCopyOfLog(path);
  } catch {
    // Whatever is wrong with the file, opening it finds it too, and says it properly.
    return null;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Everything is in the file, so SQLite need neither lock it nor make side files. */
function withoutLog(path: string): readonly AppliedStep[] {
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return stepsIn(new DatabaseSync(url, { readOnly: true }));
}

/** The log belongs to a name: under a second name of the same file a copy of it is read instead. */
function throughCopyOfLog(path: string): readonly AppliedStep[] {
  const folder = mkdtempSync(join(dirname(path), '.look-'));
  try {
    const other = join(folder, basename(path));
    linkSync(path, other);
    copyFileSync(`${path}-wal`, `${other}-wal`);
    return stepsIn(new DatabaseSync(other, { readOnly: true }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function stepsIn(sqlite: DatabaseSync): readonly AppliedStep[] {
  try {
    const rows = sqlite.prepare('select number, parley_version from parley_migration').all();
    return rows.map((row) => ({
      number: Number(row.number),
      parley_version: String(row.parley_version),
    }));
  } finally {
    sqlite.close();
  }
}

/** The migration that adds the index, and the index by which the messages of a conversation are found. */
function searchSchema(dialect: Database['dialect']): readonly string[] {
  const entries =
    dialect === 'sqlite'
      ? [
          // Without the texts themselves; the words come cut already, `ascii` only splits them at spaces.
          `create virtual table search_entry using fts5(
            words, content = '', contentless_delete = 1, tokenize = 'ascii')`,
        ]
      : [
          'create table search_entry (id bigint not null primary key, words tsvector not null)',
          'create index search_entry_words on search_entry using gin (words)',
        ];
  return [
    ...entries,
    'create table search_reach (source text not null primary key, seq bigint not null)',
    'create index inbox_conversation on inbox (conversation_id, seq)',
  ];
}
