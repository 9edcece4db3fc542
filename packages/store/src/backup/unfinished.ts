import {
  defineDynamicStatement,
  defineStatement,
  parseStoreUrl,
  type Sql,
  StoreError,
} from '../database.ts';
import { getFilesFolder } from '../files/folder-bytes.ts';
import { NAMED } from '../files/stored-files.ts';
import { MIGRATIONS } from '../migrate.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import type { Table } from '../tables/table.ts';
import { listPrimaryKeyColumns, TABLE_LIST, TABLES, type TableName } from '../tables.ts';
import { copyFiles } from './files.ts';
import type { ForgottenValues } from './settle-unfinished.ts';

/**
 * How a restore treated the unfinished work in the database that it replaced. `carried`: the work
 * continues in the restored database; `letters` counts the dead letters that were dropped because
 * of it. `unreadable`: the work was left behind because the replaced database cannot be read.
 */
export type CarryOverResult =
  | {
      readonly kind: 'carried';
      readonly messages: number;
      readonly parts: number;
      readonly letters: { readonly unanswered: number; readonly uncertain: number };
    }
  | { readonly kind: 'unreadable'; readonly reason: string };

/**
 * How a restore treats the database it replaces. The values listed in `forget` are read from the
 * replaced database, because it has the newest ones.
 */
interface CarryOverOptions {
  /**
   * With `go-on`, nothing is carried over; unfinished work that the backup does not contain is an
   * error.
   */
  readonly unfinished: 'hold' | 'go-on';
  readonly forget: readonly ForgottenValues[];
}

const PARTS = "state in ('pending', 'sending')";
/** Heartbeat runs are left out, because their schedule repeats them. */
const MESSAGES = "state in ('waiting', 'claimed') and conversation_id not like 'beat:%'";
const TURNS = `(select id from live.turn where state = 'running' and conversation_id not like 'beat:%'
  union select turn_id from live.outbox where ${PARTS} and turn_id is not null
  union select parent_turn from live.sub_agent where state = 'running')`;
const MESSAGES_OF_TURNS = `((${MESSAGES}) or turn_id in ${TURNS})`;
const PART_IDS = `(select id from live.outbox where ${PARTS})`;
const MESSAGE_KEY = ['channel', 'account', 'chat_id', 'message_id'];

interface CarriedOverRows {
  /** Selects the rows to carry over; the replaced table is called `old`. */
  readonly where: string;
  /**
   * The columns that identify a row in the restored database; the unique columns by default, null
   * if no column does.
   */
  readonly key?: readonly string[] | null;
  /** With `stays`, an existing row in the restored database is kept instead of being replaced. */
  readonly known?: 'stays';
  /** Expressions for columns whose value differs from the one in `old`. */
  readonly values?: Readonly<Record<string, string>>;
}

/** The rows of unfinished work that people are waiting for, by table. */
const CARRIED: Readonly<Partial<Record<TableName, CarriedOverRows>>> = {
  conversation: {
    where: `id in (select conversation_id from live.inbox where ${MESSAGES_OF_TURNS}
      union select conversation_id from live.turn where id in ${TURNS}
      union select parent_conversation from live.sub_agent where state = 'running'
      union select root_conversation from live.sub_agent where state = 'running')`,
    known: 'stays',
    values: { epoch: 'old.epoch + 1', lease_owner: 'null', lease_until: 'null', plan: 'null' },
  },
  turn: {
    where: `id in ${TURNS}`,
    values: { session: '(select c.session from conversation c where c.id = old.conversation_id)' },
  },
  turn_step: { where: `turn_id in ${TURNS}` },
  inbox: { where: MESSAGES_OF_TURNS },
  attachment: {
    where: `inbox_seq in (select seq from live.inbox where ${MESSAGES_OF_TURNS})`,
    values: {
      inbox_seq: `(select now.seq from inbox now join live.inbox was
        on ${MESSAGE_KEY.map((column) => `now.${column} = was.${column}`).join(' and ')}
        where was.seq = old.inbox_seq)`,
    },
  },
  outbox: {
    where: PARTS,
    key: ['id'],
    // Message numbers differ in the restored database.
    values: {
      answers: 'null',
      notice_of: '(select o.id from outbox o where o.id = old.notice_of)',
    },
  },
  agent_file: { where: `part_id in ${PART_IDS} or turn_id in ${TURNS}` },
  approval: { where: `turn_id in ${TURNS}` },
  sub_agent: { where: "state = 'running'" },
};

/**
 * Carries over work that people are waiting for, between two SQLite files that are not in use:
 * unanswered messages with their turn, its journal, approvals, sub-agents and files, and unsent
 * parts. It leaves `to` in the same state as after a crash: leases are free and epochs have
 * advanced. The usual recovery then resumes the work without repeating any of it (G16). A damaged
 * `from` is reported, not thrown. With `go-on`, throws StoreError `store-pending-work` if the
 * backup lacks unfinished work.
 */
export async function carryOverFile(
  to: string,
  from: string,
  order: CarryOverOptions,
): Promise<CarryOverResult> {
  const address = parseStoreUrl(`sqlite:${to}`);
  if (address.dialect !== 'sqlite') throw new Error(`${to} is not a SQLite file`);
  const database = openSqlite(address);
  try {
    await database.read((sql) => sql.run(ATTACH, { from }));
    const carried = await database.write((sql) => migratePendingWork(sql, order));
    const named = await database.read((sql) => sql.all(NAMED));
    const folder = getFilesFolder({ ...address, path: from }) ?? '';
    await copyFiles(
      folder,
      getFilesFolder(address) ?? '',
      named.map(({ id }) => id),
    );
    return carried;
  } catch (reason) {
    if (reason instanceof StoreError && reason.code !== 'store-pending-work') {
      return { kind: 'unreadable', reason: reason.message };
    }
    throw reason;
  } finally {
    await database.close();
  }
}

const ATTACH = defineStatement('attach database :from as live');

async function migratePendingWork(
  sql: Sql,
  { unfinished, forget }: CarryOverOptions,
): Promise<CarryOverResult> {
  if ((await countLiveRows(sql, 'parley_migration')) !== MIGRATIONS.length) {
    return { kind: 'unreadable', reason: 'it is a database from an older version of Parley' };
  }
  if (unfinished === 'go-on') {
    await refuseUnknownWork(sql);
    return { kind: 'carried', messages: 0, parts: 0, letters: { unanswered: 0, uncertain: 0 } };
  }
  for (const [table] of TABLE_LIST) await carryOverRows(sql, table, CARRIED[table]);
  for (const { channel, kind } of forget) {
    await carryOverRows(sql, 'adapter_state', {
      where: `channel = '${channel}' and kind = '${kind}'`,
    });
  }
  const letters = await dropDeadLetters(sql);
  const open = `settled is null and subject in ${TURNS}`;
  await carryOverRows(sql, 'dead_letter', { where: open, key: null });
  const messages = await countLiveRows(sql, 'inbox', MESSAGES);
  return { kind: 'carried', messages, parts: await countLiveRows(sql, 'outbox', PARTS), letters };
}

async function countLiveRows(sql: Sql, table: string, where = '1 = 1'): Promise<number> {
  const query = defineDynamicStatement(
    `select count(*) as n from live.${table} old where ${where}`,
  );
  return (await sql.get(query.rows<{ readonly n: number }>()))?.n ?? 0;
}

/**
 * Refuses a backup that was declared to be the final state if the replaced database has pending
 * work that is missing from the backup.
 */
async function refuseUnknownWork(sql: Sql): Promise<void> {
  const same = MESSAGE_KEY.map((column) => `known.${column} = old.${column}`).join(' and ');
  const unknown = (table: string, is: string) =>
    `not exists (select 1 from main.${table} known where ${is})`;
  const messages = await countLiveRows(sql, 'inbox', `${MESSAGES} and ${unknown('inbox', same)}`);
  const parts = await countLiveRows(
    sql,
    'outbox',
    `${PARTS} and ${unknown('outbox', 'known.id = old.id')}`,
  );
  if (messages + parts === 0) return;
  throw new StoreError(
    'store-pending-work',
    `The database has work that the backup does not contain (unanswered messages: ${messages}, unsent parts: ${parts}), so something has run since. Nothing was changed. Restore without --continue to carry that work over.`,
  );
}

/** Carried-over rows get new numbers, in their old order. */
async function carryOverRows(
  sql: Sql,
  table: TableName,
  rows: CarriedOverRows | undefined,
): Promise<void> {
  if (rows === undefined) return;
  const described: Table = TABLES[table];
  const {
    where,
    key = described.unique ?? listPrimaryKeyColumns(described),
    known,
    values = {},
  } = rows;
  const all = Object.keys(described.columns);
  const columns = all.filter((column) => column !== 'seq');
  const update = `update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`;
  const conflict =
    key === null ? '' : `on conflict (${key}) do ${known === 'stays' ? 'nothing' : update}`;
  await sql.run(
    defineDynamicStatement(`insert into main.${table} (${columns})
      select ${columns.map((name) => values[name] ?? `old.${name}`)}
      from live.${table} old where ${where} ${all.length > columns.length ? 'order by old.seq' : ''}
      ${conflict}`),
  );
}

/** Drops dead letters whose work continues, and dead letters whose messages are all gone. */
async function dropDeadLetters(sql: Sql) {
  const dropped = defineDynamicStatement(`delete from dead_letter where settled is null
    and (subject in ${TURNS} or subject in ${PART_IDS} or (kind = 'unanswered' and subject like 'restored-%'
      and not exists (select 1 from inbox where turn_id = subject)))
    returning kind`);
  const rows = await sql.all(dropped.rows<{ readonly kind: string }>());
  const unanswered = rows.filter(({ kind }) => kind === 'unanswered').length;
  return { unanswered, uncertain: rows.length - unanswered };
}
