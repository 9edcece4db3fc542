import {
  agentOfConversation,
  contextText,
  InboundMessage,
  type NewId,
  ReplyRoute,
} from '@parley/core';
import { z } from 'zod';
import { insertAttachments, reviseAttachments } from './attachments.ts';
import { type CommandTransaction, runInTransaction } from './commands.ts';
import { countWaiting, ensureConversation } from './conversations.ts';
import { type Database, fromCheckedJson, type Sql, statement, toJson } from './database.ts';
import type { StoredFiles } from './files/stored-files.ts';
import { reviseGroupContext } from './group-context.ts';
import { type ChatKey, OF_CHAT } from './outbox-parts.ts';
import { findReplaced, replaceEarlier } from './replacing.ts';
import {
  type AdmittedMessage,
  type FileRef,
  INBOX_COLUMNS,
  INSERT_MESSAGE,
  type InboxOutcome,
  type InboxRow,
  type MessageKey,
  type MessageRow,
  newInboxRow,
  readInboxRow,
  withoutKeys,
} from './rows.ts';

/** The newest messages of owners by which their chats are found. */
const MAX_OWNER_MESSAGES = 200;

/** A message and its outcome; null: it still waits for a turn. */
interface RecentRow extends InboxRow {
  readonly outcome: InboxOutcome | null;
  readonly turnId: string | null;
}

/** Where an owner writes. */
interface OwnersPlace {
  readonly route: ReplyRoute;
  readonly conversationId: string;
}

/** The durable stop between ingress and lane, table `inbox`. Ingress writes it, the lane reads and closes rows. */
export type InboxRepository = ReturnType<typeof inboxRepository>;

export function inboxRepository(database: Database, newId: NewId, files: StoredFiles) {
  return {
    /**
     * Stores a message unless (channel, account, chat id, message id) is known (D01, F08).
     * Creates the conversation on first contact. Durable when it resolves. `full`: `room` messages of
     * the conversation wait already (D07), and this one is not stored; a known one is never refused.
     * `onReplaced` gets the ids of what it has replaced (U08); none: it is an ordinary message.
     */
    accept: (
      admitted: AdmittedMessage,
      room = Number.POSITIVE_INFINITY,
      onReplaced?: (ids: readonly string[]) => void,
    ): Promise<'stored' | 'duplicate' | 'full'> =>
      files.withFiles(admitted.files, (stored) =>
        database.write((sql) => storeWithin(sql, admitted, { room, stored, onReplaced })),
      ),

    /**
     * Stores a command as done and runs it, in one transaction with its answer. Null: the message is known, and nothing
     * was run. `run` awaits nothing but its transaction.
     */
    command: <T>(
      admitted: AdmittedMessage,
      run: (transaction: CommandTransaction) => Promise<T>,
    ): Promise<T | null> =>
      files.withFiles(admitted.files, (stored) =>
        database.write(async (sql) => {
          await enterLane(sql, admitted);
          const seq = await insertOnce(sql, admitted, 'done');
          if (seq === null) return null;
          return runInTransaction(sql, admitted, { seq, files: stored, newId }, run);
        }),
      ),

    /**
     * Changes a message that waits for its turn, or withdraws it (null): its author did. False when it
     * is not known or its turn has started.
     */
    revise: (key: MessageKey, message: InboundMessage | null) =>
      database.write((sql) => revise(sql, key, message)),

    /** Where an owner of an agent last wrote to it in a direct chat, and in which conversation; null when none did lately. */
    ownerRoute: (agent?: string): Promise<OwnersPlace | null> =>
      database.read(async (sql) => {
        const rows = await sql.all(OWNER_ROUTES);
        const row = rows.find(({ lane }) => agentOfConversation(lane) === agent);
        if (row === undefined) return null;
        const { replyToMessageId: _, ...route } = fromCheckedJson(
          ReplyRoute,
          row.route,
          "route of an owner's message",
        );
        return { route, conversationId: row.lane };
      }),

    /**
     * The last message of each direct chat in which an owner wrote lately (among the newest 200 such
     * messages), newest first. Whether its sender is an owner still is not known here.
     */
    ownerChats: () => database.read(ownerChats),

    /**
     * How often each command was typed among the newest 2,000 messages, by its name in lower case with `_` for `-`. Asked
     * for only when a platform's menu has no room for all commands.
     */
    typedCommands: () => database.read(typedCommands),

    /** How many messages of all conversations wait for a turn. */
    waitingInAll: (): Promise<number> =>
      database.read(async (sql) => (await sql.get(WAITING_IN_ALL))?.count ?? 0),

    /** How many messages of a conversation wait for a turn. */
    waiting: (conversationId: string) => database.read((sql) => countWaiting(sql, conversationId)),

    /** What a chat wrote, oldest first, the newest `limit` rows; for the web history. */
    recent: (chat: ChatKey, limit: number): Promise<readonly RecentRow[]> =>
      database.read(async (sql) => {
        const rows = await sql.all(RECENT, { ...chat, limit });
        return rows.reverse().map((row): RecentRow => {
          return { ...readInboxRow(row), outcome: row.outcome, turnId: row.turn_id };
        });
      }),

    /**
     * The chats of an account in which people wrote, the newest first, with the first message that is no command and
     * the time of the newest part that went there (ms; 0: none).
     */
    chats: (account: Pick<ChatKey, 'channel' | 'account'>, limit: number) =>
      database.read(async (sql) => {
        const rows = await sql.all(CHATS, { ...account, limit });
        return rows.map(({ chatId, at, answeredAt, message }) => {
          const first = fromCheckedJson(InboundMessage, message, `first message of chat ${chatId}`);
          return { chatId, at, answeredAt: answeredAt ?? 0, first };
        });
      }),
  };
}

// Messages that owners wrote themselves in direct chats, newest first; served by `inbox_owner`. Those that
// Parley wrote have a trigger: inside a JSON string these quotes would be escaped. A client of the API hears the
// answers to its own requests alone, so nothing else is sent there.
const OF_OWNERS: string = `
  from inbox where from_owner = 1 and channel <> 'api' and message not like '%,"trigger":"%' order by seq desc`;

const TYPED = statement(
  "select message from inbox where seq > (select max(seq) from inbox) - 2000 and message like '%/%'",
).rows<{ readonly message: string }>();
const Typed = z.object({ text: z.string() });

async function typedCommands(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { message } of await sql.all(TYPED)) {
    const { text } = fromCheckedJson(Typed, message, 'message');
    const [, word] = /^\s*\/([a-z0-9_-]{1,64})(?:\s|$)/i.exec(text) ?? [];
    const name = word?.toLowerCase().replaceAll('-', '_');
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

const OWNER_ROUTES = statement(
  `select route, conversation_id as lane ${OF_OWNERS} limit ${MAX_OWNER_MESSAGES}`,
).rows<{ readonly route: string; readonly lane: string }>();

const OWNER_CHATS = statement(
  `select ${INBOX_COLUMNS}, channel, account, chat_id ${OF_OWNERS} limit ${MAX_OWNER_MESSAGES}`,
).rows<MessageRow & Readonly<Record<'channel' | 'account' | 'chat_id', string>>>();

const RECENT = statement(`
  select ${INBOX_COLUMNS}, outcome, turn_id from inbox where ${OF_CHAT}
  order by seq desc limit :limit`).rows<
  MessageRow & { readonly outcome: InboxOutcome | null; readonly turn_id: string | null }
>();

const OF_ACCOUNT = 'channel = :channel and account = :account';

/**
 * The rows of `chat.id`. A range, so that their order is that of `chat_id` and `seq`, for which there is one index: with
 * `=`, PostgreSQL may go through all chats by their `seq` to find one row of this.
 */
const OF_LISTED = `${OF_ACCOUNT} and chat_id >= chat.id and chat_id <= chat.id`;
const NEWEST_OF_IT = `${OF_LISTED} order by chat_id desc, seq desc limit 1`;

/**
 * Steps from chat to chat along the index, so that the number of messages does not matter. The first message of a
 * chat is one that is no command and not replaced, where there is one.
 */
export const CHATS = statement(`
  with recursive chat (id) as (
    select min(chat_id) from inbox where ${OF_ACCOUNT}
    union all
    select (select min(chat_id) from inbox where ${OF_ACCOUNT} and chat_id > chat.id)
    from chat where chat.id is not null)
  select id as "chatId", coalesce(
      (select message from inbox where ${OF_LISTED}
        and coalesce(outcome, '') not in ('command', 'replaced') order by chat_id, seq limit 1),
      (select message from inbox where ${OF_LISTED} order by chat_id, seq limit 1)) as message,
    (select received_at from inbox where ${NEWEST_OF_IT}) as at,
    (select created_at from outbox where ${NEWEST_OF_IT}) as "answeredAt"
  from chat where id is not null
  order by (select seq from inbox where ${NEWEST_OF_IT}) desc limit :limit`).rows<{
  readonly chatId: string;
  readonly at: number;
  readonly message: string;
  readonly answeredAt: number | null;
}>();

interface Accepting {
  readonly room: number;
  readonly stored: readonly FileRef[];
  readonly onReplaced: ((ids: readonly string[]) => void) | undefined;
}

async function storeWithin(
  sql: Sql,
  admitted: AdmittedMessage,
  { room, stored, onReplaced }: Accepting,
): Promise<'stored' | 'duplicate' | 'full'> {
  const waiting = await enterLane(sql, admitted);
  // Nothing is written for a message that is refused, so a flood costs no wait for the disk.
  const isFull = await reaches(sql, admitted.conversationId, waiting, room);
  if (isFull && !(await isKnown(sql, admitted.message))) return 'full';
  return store(sql, admitted, stored, onReplaced);
}

async function store(
  sql: Sql,
  admitted: AdmittedMessage,
  files: readonly FileRef[],
  onReplaced: (ids: readonly string[]) => void = () => undefined,
): Promise<'stored' | 'duplicate'> {
  const { message, receivedAt } = admitted;
  const again = message.replaces === undefined ? null : await findReplaced(sql, admitted);
  const stored = again === null ? admitted : { ...admitted, message: again.message };
  const seq = await insertOnce(sql, stored, 'waiting');
  if (seq === null) return 'duplicate';
  if (again === null) insertAttachments(sql, seq, message, receivedAt, files);
  else onReplaced(await replaceEarlier(sql, again, seq, { receivedAt, files }));
  return 'stored';
}

/** The last message of each direct chat in which an owner wrote lately, newest first. */
async function ownerChats(sql: Sql): Promise<readonly InboxRow[]> {
  const rows = await sql.all(OWNER_CHATS);
  const newest = new Map<string, MessageRow>();
  for (const row of rows) {
    const chat = JSON.stringify([row.channel, row.account, row.chat_id]);
    if (!newest.has(chat)) newest.set(chat, row);
  }
  return [...newest.values()].map(readInboxRow);
}

async function revise(sql: Sql, key: MessageKey, message: InboundMessage | null): Promise<boolean> {
  const changed =
    message === null
      ? await sql.get(WITHDRAW, key)
      : await sql.get(REVISE, {
          ...key,
          message: toJson(withoutKeys({ ...message, messageId: key.messageId })),
        });
  if (changed === undefined) {
    return reviseGroupContext(sql, key, message === null ? null : contextText(message));
  }
  if (message !== null) await reviseAttachments(sql, changed.seq, message, changed.received_at);
  return true;
}

const WHILE_WAITING = `
  where ${OF_CHAT} and message_id = :messageId and state = 'waiting' returning seq, received_at`;

const WITHDRAW = statement(
  `update inbox set state = 'done', outcome = 'withdrawn' ${WHILE_WAITING}`,
).rows<Pick<MessageRow, 'seq' | 'received_at'>>();

const REVISE = statement(`update inbox set message = :message ${WHILE_WAITING}`).rows<
  Pick<MessageRow, 'seq' | 'received_at'>
>();

const WAITING_IN_ALL = statement(
  "select count(*) as count from inbox where state = 'waiting'",
).rows<{ readonly count: number }>();

const ENTER = statement(`
  select (select count(*) from inbox where conversation_id = :id and state = 'waiting') as waiting
  from conversation where id = :id /*pg for no key update*/`).rows<{ readonly waiting: number }>();

const KNOWN = statement(`select seq from inbox where ${OF_CHAT} and message_id = :messageId`).rows<{
  readonly seq: number;
}>();

const INSERT = statement(`${INSERT_MESSAGE}
  on conflict (channel, account, chat_id, message_id) do update set repeats = inbox.repeats + 1
  returning seq, repeats`).rows<{ readonly seq: number; readonly repeats: number }>();

/**
 * Writers to the inbox of a lane wait for each other: what one counts, no other changes. Returns
 * how many messages waited when this began to wait.
 */
async function enterLane(
  sql: Sql,
  { conversationId, receivedAt }: AdmittedMessage,
): Promise<number> {
  const known = await sql.get(ENTER, { id: conversationId });
  if (known !== undefined) return known.waiting;
  ensureConversation(sql, conversationId, receivedAt);
  return (await sql.get(ENTER, { id: conversationId }))?.waiting ?? 0;
}

/** More than are stored in one lane while a message waits to be. */
const AT_ONCE = 16;

/** Counted again only near the bound: PostgreSQL has counted before the lock was there. */
async function reaches(
  sql: Sql,
  conversationId: string,
  waiting: number,
  room: number,
): Promise<boolean> {
  if (waiting + AT_ONCE < room) return false;
  return (await countWaiting(sql, conversationId)) >= room;
}

async function isKnown(sql: Sql, message: InboundMessage): Promise<boolean> {
  return (await sql.get(KNOWN, { ...message, chatId: message.chat.id })) !== undefined;
}

/**
 * Stores a message unless it is known; null when it is. The unique key decides, not a look
 * beforehand: two gateways may receive the same message at the same moment (F08).
 */
async function insertOnce(
  sql: Sql,
  admitted: AdmittedMessage,
  state: 'waiting' | 'done',
): Promise<number | null> {
  const row = await sql.get(INSERT, newInboxRow(admitted, state));
  return row?.repeats === 0 ? row.seq : null;
}
