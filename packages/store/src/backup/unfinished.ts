import {
  composed,
  type Database,
  parseStoreUrl,
  type Sql,
  StoreError,
  statement,
} from '../database.ts';
import { filesFolderOf } from '../files/folder-bytes.ts';
import { NAMED } from '../files/stored-files.ts';
import { MIGRATIONS } from '../migrate.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import { copyFiles, FILE_TABLE, makeFilesFolder } from './file-rows.ts';
import { quoted } from './snapshot.ts';

/**
 * What was unfinished in the database that a restore replaces. `carried`: it continues in the restored
 * one; `letters` counts the dead letters about it that are gone.
 * `unreadable`: it was left behind, for this reason.
 */
export type CarriedOver =
  | {
      readonly kind: 'carried';
      readonly messages: number;
      readonly parts: number;
      readonly letters: { readonly unanswered: number; readonly uncertain: number };
    }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** How to treat the replaced database; the values of `forget` are read from it, which has the newest. */
export interface CarryOrder {
  readonly unfinished: 'hold' | 'go-on';
  readonly forget: readonly ForgottenValues[];
}

const PARTS = "state in ('pending', 'sending')";
/** Heartbeat runs are repeated by their schedule. */
const MESSAGES = "state in ('waiting', 'claimed') and conversation_id not like 'beat:%'";
const NOTHING = {
  kind: 'carried',
  messages: 0,
  parts: 0,
  letters: { unanswered: 0, uncertain: 0 },
} as const;

/**
 * Carries over what people still wait for: messages without an answer with their turn, its journal,
 * approvals and sub-agents, and parts that were not sent. It runs in the transaction that ends the restore,
 * when no process can write to `source` any more, and leaves there what a crash would leave: leases are
 * free, epochs have moved on. So the usual recovery resumes it, and repeats nothing (G16).
 */
export async function carryOver(
  { dialect }: Pick<Database, 'dialect'>,
  sql: Sql,
  source: string,
  { unfinished, forget }: CarryOrder,
): Promise<CarriedOver> {
  const from = (table: string) => `${quoted(source)}.${quoted(table)}`;
  const count = async (table: string, where = '1 = 1'): Promise<number> => {
    const query = composed(`select count(*) as n from ${from(table)} old where ${where}`);
    return (await sql.get(query.rows<{ readonly n: number }>()))?.n ?? 0;
  };
  if ((await count('parley_migration')) !== MIGRATIONS.length) {
    return { kind: 'unreadable', reason: 'it is the database of an older Parley' };
  }
  if (unfinished === 'go-on') {
    await refuseUnknown(count);
    return NOTHING;
  }
  const copy = copier(dialect, sql, from);
  const turns = `(select id from ${from('turn')} where state = 'running' and conversation_id not like 'beat:%'
    union select turn_id from ${from('outbox')} where ${PARTS} and turn_id is not null
    union select parent_turn from ${from('sub_agent')} where state = 'running')`;
  const messages = `((${MESSAGES}) or turn_id in ${turns})`;
  const parts = `(select id from ${from('outbox')} where ${PARTS})`;
  await copy('conversation', {
    where: `id in (select conversation_id from ${from('inbox')} where ${messages}
      union select conversation_id from ${from('turn')} where id in ${turns}
      union select parent_conversation from ${from('sub_agent')} where state = 'running'
      union select root_conversation from ${from('sub_agent')} where state = 'running')`,
    key: 'id',
    known: 'stays',
    values: { epoch: 'old.epoch + 1', lease_owner: 'null', lease_until: 'null', plan: 'null' },
  });
  const session = '(select c.session from conversation c where c.id = old.conversation_id)';
  await copy('turn', { where: `id in ${turns}`, key: 'id', values: { session } });
  await copy('turn_step', { where: `turn_id in ${turns}`, key: 'turn_id, step_index' });
  await copy('inbox', { where: messages, key: MESSAGE_KEY.join(', ') });
  await copy('attachment', {
    where: `inbox_seq in (select seq from ${from('inbox')} where ${messages})`,
    key: 'inbox_seq, attachment_index',
    values: {
      inbox_seq: `(select now.seq from inbox now join ${from('inbox')} was
        on ${MESSAGE_KEY.map((column) => `now.${column} = was.${column}`).join(' and ')}
        where was.seq = old.inbox_seq)`,
    },
  });
  await copy('outbox', {
    where: PARTS,
    key: 'id',
    // The numbers of messages are others here.
    values: {
      answers: 'null',
      notice_of: '(select o.id from outbox o where o.id = old.notice_of)',
    },
  });
  await copy('agent_file', { where: `part_id in ${parts} or turn_id in ${turns}`, key: 'id' });
  await copy(FILE_TABLE, {
    where: `file_id in (select file_id from attachment union select file_id from agent_file)`,
    key: 'file_id, piece_index',
  });
  await copy('approval', { where: `turn_id in ${turns}`, key: 'code' });
  await copy('sub_agent', { where: "state = 'running'", key: 'id' });
  for (const { channel, kind } of forget) {
    await copy('adapter_value', {
      where: `channel = '${channel}' and kind = '${kind}'`,
      key: 'channel, account, kind, id',
    });
  }
  const letters = await dropDeadLetters(sql, `subject in ${turns} or subject in ${parts}`);
  await copy('dead_letter', { where: `settled is null and subject in ${turns}`, key: null });
  return {
    kind: 'carried',
    messages: await count('inbox', MESSAGES),
    parts: await count('outbox', PARTS),
    letters,
  };
}

/** The same between two files of SQLite that no process uses. A damaged old one is reported, not thrown. */
export async function carryOverFile(
  to: string,
  from: string,
  order: CarryOrder,
): Promise<CarriedOver> {
  const address = parseStoreUrl(`sqlite:${to}`);
  if (address.dialect !== 'sqlite') throw new Error(`${to} is no file of SQLite`);
  const database = openSqlite(address);
  try {
    await database.read((sql) => sql.run(ATTACH, { from }));
    const carried = await database.write((sql) => carryOver(database, sql, 'live', order));
    const named = await database.read((sql) => sql.all(NAMED));
    const target = filesFolderOf(address) ?? '';
    await makeFilesFolder(target);
    await copyFiles(
      filesFolderOf({ ...address, path: from }) ?? '',
      target,
      named.map(({ id }) => id),
    );
    return carried;
  } catch (reason) {
    if (reason instanceof StoreError && reason.code !== 'store-waiting') {
      return { kind: 'unreadable', reason: reason.message };
    }
    throw reason;
  } finally {
    await database.close();
  }
}

const ATTACH = statement('attach database :from as live');

const MESSAGE_KEY = ['channel', 'account', 'chat_id', 'message_id'];

/** After a backup that is said to be the final state, nothing can wait that it does not know. */
async function refuseUnknown(
  count: (table: string, where: string) => Promise<number>,
): Promise<void> {
  const same = MESSAGE_KEY.map((column) => `known.${column} = old.${column}`).join(' and ');
  const messages = await count(
    'inbox',
    `${MESSAGES} and not exists (select 1 from inbox known where ${same})`,
  );
  const parts = await count(
    'outbox',
    `${PARTS} and not exists (select 1 from outbox known where known.id = old.id)`,
  );
  if (messages + parts === 0) return;
  throw new StoreError(
    'store-waiting',
    `The database has work that the backup does not know (unanswered messages: ${messages}, unsent parts: ${parts}), so something has run since. Nothing was changed. Restore without --go-on: then it is carried over.`,
  );
}

interface CopiedRows {
  readonly where: string;
  /** Columns by which a row is known in the restored database; null: no row can be known there. */
  readonly key: string | null;
  /** A known row is replaced unless it `stays`. */
  readonly known?: 'stays';
  /** Columns that get another value than `old` has. */
  readonly values?: Readonly<Record<string, string>>;
}

/** Both databases have the same columns. New rows take new numbers, in the old order. */
function copier(dialect: Database['dialect'], sql: Sql, from: (table: string) => string) {
  return async (table: string, { where, key, known, values = {} }: CopiedRows): Promise<void> => {
    const all = (await sql.all(COLUMNS[dialect], { table })).map(({ name }) => name);
    const columns = all.filter((column) => column !== 'seq');
    const update = `update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`;
    const conflict =
      key === null ? '' : `on conflict (${key}) do ${known === 'stays' ? 'nothing' : update}`;
    await sql.run(
      composed(`insert into ${table} (${columns.join(', ')})
        select ${columns.map((name) => values[name] ?? `old.${name}`).join(', ')}
        from ${from(table)} old where ${where} ${all.length > columns.length ? 'order by old.seq' : ''}
        ${conflict}`),
    );
  };
}

const COLUMNS = {
  sqlite: statement('select name from pragma_table_info(:table)').rows<{ readonly name: string }>(),
  postgres: statement(`
    select column_name as name from information_schema.columns
    where table_schema = current_schema() and table_name = :table`).rows<{
    readonly name: string;
  }>(),
} as const;

/** Dead letters about work that continues, and those that have no messages left. */
async function dropDeadLetters(sql: Sql, about: string) {
  const dropped = composed(`delete from dead_letter where settled is null
    and (${about} or (kind = 'unanswered' and subject like 'restored-%'
      and not exists (select 1 from inbox where turn_id = subject)))
    returning kind`);
  const rows = await sql.all(dropped.rows<{ readonly kind: string }>());
  const unanswered = rows.filter(({ kind }) => kind === 'unanswered').length;
  return { unanswered, uncertain: rows.length - unanswered };
}

/** What was held back, for people. `turns` and `parts` are dead letters now, `jobs` are paused. */
export interface HeldBack {
  readonly parts: number;
  readonly turns: number;
  readonly jobs: number;
}

/** All values of one kind that adapters of one channel keep. */
export interface ForgottenValues {
  readonly channel: string;
  readonly kind: string;
}

const REASON =
  'it was not finished in the state that the database has gone back to, and may have been since';

/**
 * What a database that has gone back in time has to do with its unfinished work, whether a backup was restored or a
 * failover lost rows: since then its waiting messages may have been answered and its parts sent, and doing it once
 * more would repeat it. So it becomes dead letters, which an operator can replay. Turns that run are fenced.
 */
export async function settleUnfinished(
  sql: Sql,
  forget: readonly ForgottenValues[],
  now: number,
): Promise<HeldBack> {
  const held = await holdBack(sql, forget, now);
  freeLanes(sql);
  return held;
}

/** No worker holds a lane of a restored database, and an earlier holder can write nothing more. */
export function freeLanes(sql: Sql): void {
  sql.send(FREE_LANES);
  sql.send(FREE_SUMMARIES);
}

const FREE_LANES = statement(
  'update conversation set epoch = epoch + 1, lease_owner = null, lease_until = null',
);

const FREE_SUMMARIES = statement(
  'update summary set claimed_by = null, claimed_until = 0 where claimed_by is not null',
);

async function holdBack(
  sql: Sql,
  forget: readonly ForgottenValues[],
  now: number,
): Promise<HeldBack> {
  const turns = await holdMessages(sql, now);
  const parts = await holdParts(sql, now);
  // A reminder for once that was due since then was most likely given.
  const jobs = await sql.run(PAUSE_JOBS, { now });
  endRuns(sql, now);
  for (const { channel, kind } of forget) sql.send(FORGET, { channel, kind });
  return { parts, turns, jobs };
}

const FORGET = statement('delete from adapter_value where channel = :channel and kind = :kind');

/** What waits gets a turn, where it has none, and each of these turns has failed. */
async function holdMessages(sql: Sql, now: number): Promise<number> {
  sql.send(GIVE_TURNS, { before: `restored-${now}-`, now });
  sql.send(FAIL_MESSAGES, { now });
  const deadLetters = await sql.run(DEAD_LETTERS_OF_TURNS, { now });
  sql.send(FREE_GROUP_CONTEXT);
  sql.send(FAIL_TURNS, { now, reason: REASON });
  return deadLetters;
}

const GIVE_TURNS = statement(`
  insert into turn (id, conversation_id, session, state, attempts, started_at)
  select :before || id, id, session, 'running', 0, cast(:now as bigint) from conversation
  where exists (select 1 from inbox where conversation_id = conversation.id and state = 'waiting')
    and not exists (select 1 from turn where conversation_id = conversation.id and state = 'running')`);

const FAIL_MESSAGES = statement(`
  update inbox set state = 'done', outcome = 'failed', done_at = :now,
    turn_id = coalesce(turn_id, (select id from turn
      where turn.conversation_id = inbox.conversation_id and turn.state = 'running'))
  where state in ('waiting', 'claimed')`);

const DEAD_LETTERS_OF_TURNS = composed(`insert into dead_letter (kind, subject, died_at)
  select 'unanswered', id, cast(:now as bigint) from turn
  where state = 'running' and conversation_id not like 'sub:%' and conversation_id not like 'beat:%'
    and not exists (select 1 from dead_letter where subject = turn.id and settled is null)
  order by started_at, id`);

const FREE_GROUP_CONTEXT = statement(
  'update group_context set turn_id = null where turn_id is not null',
);

const FAIL_TURNS = statement(`
  update turn set state = 'failed', reason = :reason, awaits = null, finished_at = :now
  where state = 'running'`);

async function holdParts(sql: Sql, now: number): Promise<number> {
  const deadLetters = await sql.run(DEAD_LETTERS_OF_PARTS, { now });
  sql.send(HOLD_PARTS, { now, reason: REASON });
  return deadLetters;
}

const DEAD_LETTERS_OF_PARTS = statement(`
  insert into dead_letter (kind, subject, died_at)
  select 'uncertain', id, cast(:now as bigint) from outbox
  where state in ('pending', 'sending') and notice_of is null
    and not exists (select 1 from dead_letter where subject = outbox.id and settled is null)
  order by seq`);

const HOLD_PARTS = statement(`
  update outbox set state = 'unknown', error = :reason, updated_at = :now
  where state in ('pending', 'sending')`);

const PAUSE_JOBS = composed(`update cron_job set state = 'paused', next_at = null
  where state = 'on' and next_at <= :now and timetable like '%"kind":"once"%'`);

function endRuns(sql: Sql, now: number): void {
  sql.send(DROP_PLANS);
  sql.send(WITHDRAW_APPROVALS, { now });
  sql.send(STOP_SUB_AGENTS, { now });
  sql.send(FAIL_BEATS, { now, reason: REASON });
}

const DROP_PLANS = statement('update conversation set plan = null where plan is not null');

const WITHDRAW_APPROVALS = statement(`
  update approval set state = 'withdrawn', decided_at = :now where state = 'pending'`);

const STOP_SUB_AGENTS = statement(`
  update sub_agent set state = 'stopped', finished_at = :now where state = 'running'`);

const FAIL_BEATS = statement(`
  update heartbeat_run set state = 'failed', reason = :reason, held_until = null, entry = null, parts = null,
    finished_at = :now
  where state in ('running', 'waiting', 'held')`);
