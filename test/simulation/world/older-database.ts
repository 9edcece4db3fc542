import { DatabaseSync } from 'node:sqlite';
import { MIGRATIONS } from '../../../packages/store/src/migrate.ts';

/** The only migration of the first release. */
const FIRST_SCHEMA = 31;
const FIRST_VERSION = '0.1.0';

type TableRow = Readonly<Record<string, string | number | null>>;

/** A message that a person had written to the earlier Parley. */
export interface OldMessage {
  readonly id: string;
  readonly chat: string;
  readonly text: string;
}

/**
 * The unfinished work of the earlier Parley when it was stopped for the last time. `code` is the
 * approval code of the open request.
 */
export interface UnfinishedWork {
  readonly channel: string;
  /** Accepted messages that no turn has claimed. */
  readonly waiting: readonly OldMessage[];
  /** A message whose turn was running and had the result of its only tool call. */
  readonly running: OldMessage;
  /** A message whose turn waits until a person approves a tool call. */
  readonly suspended: OldMessage & { readonly code: string };
  /** An answered message whose part is pending or was being sent. */
  readonly unsent: OldMessage & { readonly answer: string };
  readonly sending: OldMessage & { readonly answer: string };
}

/**
 * Creates a database in the schema of 0.1.0, in the state in which a kill leaves it. `now` is in ms
 * since 1970.
 */
export function makeOldDatabase(file: string, unfinished: UnfinishedWork, now: number): void {
  const database = new DatabaseSync(file);
  try {
    database.exec('pragma auto_vacuum = incremental; pragma journal_mode = wal');
    database.exec('begin');
    createSchema(database, now);
    const add = (table: string, row: TableRow): void => {
      const names = Object.keys(row);
      const places = names.map(() => '?').join(', ');
      database
        .prepare(`insert into ${table} (${names.join(', ')}) values (${places})`)
        .run(...Object.values(row));
    };
    for (const { table, row } of createRows(unfinished, now)) add(table, row);
    database.exec('commit');
  } finally {
    database.close();
  }
}

function createSchema(database: DatabaseSync, now: number): void {
  database.exec(`create table parley_migration (number bigint not null primary key, name text not null,
    parley_version text not null, applied_at bigint not null)`);
  const first = MIGRATIONS.find(({ number }) => number === FIRST_SCHEMA);
  for (const text of first?.statements('sqlite') ?? []) database.exec(text);
  database
    .prepare('insert into parley_migration values (?, ?, ?, ?)')
    .run(FIRST_SCHEMA, 'schema', FIRST_VERSION, now);
}

function createRows(unfinished: UnfinishedWork, now: number) {
  const { channel, waiting, running, suspended, unsent, sending } = unfinished;
  const { all, lane, inbox, turn, answered } = createChannelRows(channel, now);
  const talks = new Map(
    [...waiting, running, suspended, unsent, sending].map(({ chat }) => [chat, lane(chat)]),
  );
  all.push(...talks.values());
  for (const message of waiting) inbox(message, { state: 'waiting' });
  const steps = (id: string, count: number): void => {
    const call = `${id}.0.0`;
    const usage = { model: 'seed', inputTokens: 10, outputTokens: 2, costUsd: null };
    const audience = { kind: 'everyone' };
    const calls = [{ id: 'call-1', name: 'current_time', arguments: '{}' }];
    const contents = [
      { kind: 'model', text: '', calls, usage, audience },
      { kind: 'result', call, text: 'It is noon.', failed: false, audience },
    ];
    for (const [index, content] of contents.slice(0, count).entries()) {
      const row = { turn_id: id, step_index: index, content: JSON.stringify(content) };
      all.push({ table: 'turn_step', row: { ...row, created_at: now } });
    }
  };
  turn('turn_running', running, {});
  steps('turn_running', 2);
  turn('turn_suspended', suspended, { awaits: suspended.code });
  steps('turn_suspended', 1);
  all.push({ table: 'approval', row: createApproval(suspended, channel, now) });
  answered('turn_unsent', unsent, 'pending');
  answered('turn_sending', sending, 'sending');
  return all;
}

/** Creates the rows of one channel and collects them in `all`. */
function createChannelRows(channel: string, now: number) {
  const all: { readonly table: string; readonly row: TableRow }[] = [];
  const target = { dialect: 'plain', maxLength: 4_096, unit: 'utf16' };
  const place = (chat: string) => ({ channel, account: 'default', chat_id: chat });
  const laneOf = (chat: string) => `${channel}:default:${chat}`;
  const routeOf = (chatId: string) =>
    JSON.stringify({ channel, account: 'default', chatId, chatType: 'direct', target });
  const lane = (chat: string) => ({
    table: 'conversation',
    // The killed worker still holds this lane.
    row: {
      id: laneOf(chat),
      epoch: 3,
      lease_owner: 'worker',
      lease_until: now + 60_000,
      created_at: now,
    },
  });
  const inbox = ({ id, chat, text }: OldMessage, more: TableRow): void => {
    const message = {
      ...{ channel, account: 'default', messageId: id, chat: { id: chat, type: 'direct' }, text },
      ...{ sender: { id: chat, name: `Person ${chat}`, isBot: false }, addressed: true },
      ...{ mentions: [], sentAt: now, variables: {} },
    };
    const row = { conversation_id: laneOf(chat), ...place(chat), message_id: id, received_at: now };
    const json = { message: JSON.stringify(message), route: routeOf(chat) };
    all.push({ table: 'inbox', row: { ...row, ...json, ...more } });
  };
  const turn = (id: string, of: OldMessage, more: TableRow): void => {
    const row = { id, conversation_id: laneOf(of.chat), session: 0, attempts: 1, started_at: now };
    all.push({ table: 'turn', row: { ...row, state: 'running', ...more } });
    const isOver = more.state !== undefined;
    const outcome = isOver ? 'answered' : null;
    inbox(of, { state: isOver ? 'done' : 'claimed', turn_id: id, outcome });
  };
  const answered = (
    id: string,
    of: OldMessage & { readonly answer: string },
    state: string,
  ): void => {
    turn(id, of, { state: 'answered', finished_at: now });
    const ids = { id: `part_${id}`, idempotency_key: `key_${id}`, turn_id: id, part_index: 0 };
    const body = JSON.stringify({ text: of.answer, plain: of.answer });
    const times = { not_before: 0, created_at: now, updated_at: now };
    const row = { ...ids, ...place(of.chat), route: routeOf(of.chat), body, state, ...times };
    all.push({
      table: 'outbox',
      row: { ...row, ...(state === 'sending' && { tried_at: now, sending_at: now }) },
    });
  };
  return { all, lane, inbox, turn, answered };
}

function createApproval(
  { chat, code }: OldMessage & { readonly code: string },
  channel: string,
  now: number,
): TableRow {
  return {
    ...{ code, conversation_id: `${channel}:default:${chat}`, turn_id: 'turn_suspended' },
    ...{ call_key: 'turn_suspended.0.0', tool: 'current_time', shown: '{}' },
    ...{ asked_by: `${channel}:${chat}`, place: 'a direct chat', approvers: `${channel}:${chat}` },
    ...{ state: 'pending', asked_at: now, expires_at: now + 24 * 60 * 60_000 },
    asked_in: `${channel}:default:${chat}`,
  };
}
