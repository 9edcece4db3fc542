import { formatContextMessage, type InboundMessage, type NewId } from '@parley/core';
import { insertAttachments, reviseAttachments } from './attachments.ts';
import { type CommandTransaction, runInTransaction } from './commands.ts';
import type { ChatKey, MessageKey } from './conversations.ts';
import { countWaiting, ensureConversation, OF_CHAT } from './conversations.ts';
import { type Database, defineStatement, encodeJson, type Sql } from './database.ts';
import type { StoredFiles } from './files/stored-files.ts';
import { reviseGroupContext } from './group-context.ts';
import {
  countTypedCommands,
  findOwnerRoute,
  listAccountChats,
  listOwnerChats,
  listRecentMessages,
} from './inbox-reads.ts';
import { findReplacedMessage, replaceEarlierMessage } from './message-replacement.ts';
import {
  type AdmittedMessage,
  type FileRef,
  INSERT_MESSAGE,
  type MessageRow,
  stripAttachmentKeys,
  toInboxRow,
} from './rows.ts';

/**
 * The durable handover between ingress and lane, stored in the `inbox` table; ingress inserts rows,
 * and the lane reads and closes them.
 */
export type InboxRepository = ReturnType<typeof createInboxRepository>;

export function createInboxRepository(database: Database, newId: NewId, files: StoredFiles) {
  return {
    /**
     * Stores a message unless (channel, account, chat id, message id) is already known (D01, F08),
     * and creates the conversation on first contact. The message is durable when the promise
     * resolves. `full`: `room` messages are already waiting in the conversation (D07), so the new
     * message was not stored; a duplicate is never refused. `onReplaced` receives the ids of the
     * messages that the new message replaced (U08); it is not called if there are none.
     */
    accept: (
      admitted: AdmittedMessage,
      room = Number.POSITIVE_INFINITY,
      onReplaced?: (ids: readonly string[]) => void,
    ): Promise<'stored' | 'duplicate' | 'full'> =>
      files.withFiles(admitted.files, (stored) =>
        database.write((sql) => storeUnlessInboxFull(sql, admitted, { room, stored, onReplaced })),
      ),

    /**
     * Stores a command as done, runs it and stores its answer, all in one transaction. Returns null
     * without running the command if the message is already stored. `run` may await only its
     * transaction.
     */
    command: <T>(
      admitted: AdmittedMessage,
      run: (transaction: CommandTransaction) => Promise<T>,
    ): Promise<T | null> =>
      files.withFiles(admitted.files, (stored) =>
        database.write(async (sql) => {
          await lockAndCountWaiting(sql, admitted);
          const seq = await insertOnce(sql, admitted, 'done');
          if (seq === null) return null;
          return runInTransaction(sql, admitted, { seq, files: stored, newId }, run);
        }),
      ),

    /**
     * Applies an author's edit to a message that waits for its turn; null withdraws the message.
     * Returns false if the message is unknown or its turn has started.
     */
    revise: (key: MessageKey, message: InboundMessage | null) =>
      database.write((sql) => reviseStoredMessage(sql, key, message)),

    /**
     * Finds the direct chat in which an owner of an agent last wrote to it, with its conversation;
     * null if no owner wrote recently.
     */
    ownerRoute: (agent?: string) => database.read((sql) => findOwnerRoute(sql, agent)),

    /**
     * Lists the last message of each direct chat in which an owner wrote recently (among the newest
     * 200 such messages), newest first. Whether the sender is still an owner is not checked here.
     */
    ownerChats: () => database.read(listOwnerChats),

    /**
     * Counts how often each command was typed among the newest 2,000 messages, by its lower-case
     * name, in which `_` replaces `-`. Called only if a platform's menu has no room for all
     * commands.
     */
    typedCommands: () => database.read(countTypedCommands),

    /** The number of messages that wait for a turn, in all conversations. */
    totalWaiting: (): Promise<number> =>
      database.read(async (sql) => (await sql.get(TOTAL_WAITING))?.count ?? 0),

    /** The number of messages in a conversation that wait for a turn. */
    waiting: (conversationId: string) => database.read((sql) => countWaiting(sql, conversationId)),

    /** Lists the newest `limit` messages in a chat, oldest first, for the web history. */
    recent: (chat: ChatKey, limit: number) =>
      database.read((sql) => listRecentMessages(sql, chat, limit)),

    /**
     * Lists an account's chats in which people wrote, newest first, with the first message that is
     * not a command and the time of the newest part sent there (ms; 0 if none).
     */
    chats: (account: Pick<ChatKey, 'channel' | 'account'>, limit: number) =>
      database.read((sql) => listAccountChats(sql, account, limit)),
  };
}

interface AcceptOptions {
  readonly room: number;
  readonly stored: readonly FileRef[];
  readonly onReplaced: ((ids: readonly string[]) => void) | undefined;
}

async function storeUnlessInboxFull(
  sql: Sql,
  admitted: AdmittedMessage,
  { room, stored, onReplaced }: AcceptOptions,
): Promise<'stored' | 'duplicate' | 'full'> {
  const waiting = await lockAndCountWaiting(sql, admitted);
  // Nothing is written for a refused message, so a flood does not cause disk syncs.
  const isFull = await isInboxFull(sql, admitted.conversationId, waiting, room);
  if (isFull && !(await isStored(sql, admitted.message))) return 'full';
  return storeMessage(sql, admitted, stored, onReplaced);
}

async function storeMessage(
  sql: Sql,
  admitted: AdmittedMessage,
  files: readonly FileRef[],
  onReplaced: (ids: readonly string[]) => void = () => undefined,
): Promise<'stored' | 'duplicate'> {
  const { message, receivedAt } = admitted;
  const again = message.replaces === undefined ? null : await findReplacedMessage(sql, admitted);
  const stored = again === null ? admitted : { ...admitted, message: again.message };
  const seq = await insertOnce(sql, stored, 'waiting');
  if (seq === null) return 'duplicate';
  if (again === null) insertAttachments(sql, seq, message, receivedAt, files);
  else onReplaced(await replaceEarlierMessage(sql, again, seq, { receivedAt, files }));
  return 'stored';
}

async function reviseStoredMessage(
  sql: Sql,
  key: MessageKey,
  message: InboundMessage | null,
): Promise<boolean> {
  const changed =
    message === null
      ? await sql.get(WITHDRAW, key)
      : await sql.get(REVISE, {
          ...key,
          message: encodeJson(stripAttachmentKeys({ ...message, messageId: key.messageId })),
        });
  if (changed === undefined) {
    return reviseGroupContext(sql, key, message === null ? null : formatContextMessage(message));
  }
  if (message !== null) await reviseAttachments(sql, changed.seq, message, changed.received_at);
  return true;
}

const WHILE_WAITING = `
  where ${OF_CHAT} and message_id = :messageId and state = 'waiting' returning seq, received_at`;

const WITHDRAW = defineStatement(
  `update inbox set state = 'done', outcome = 'withdrawn' ${WHILE_WAITING}`,
).rows<Pick<MessageRow, 'seq' | 'received_at'>>();

const REVISE = defineStatement(`update inbox set message = :message ${WHILE_WAITING}`).rows<
  Pick<MessageRow, 'seq' | 'received_at'>
>();

const TOTAL_WAITING = defineStatement(
  "select count(*) as count from inbox where state = 'waiting'",
).rows<{ readonly count: number }>();

const LOCK_CONVERSATION = defineStatement(`
  select (select count(*) from inbox where conversation_id = :id and state = 'waiting') as waiting
  from conversation where id = :id /*pg for no key update*/`).rows<{ readonly waiting: number }>();

const KNOWN = defineStatement(
  `select seq from inbox where ${OF_CHAT} and message_id = :messageId`,
).rows<{
  readonly seq: number;
}>();

const INSERT = defineStatement(`${INSERT_MESSAGE}
  on conflict (channel, account, chat_id, message_id) do update set repeats = inbox.repeats + 1
  returning seq, repeats`).rows<{ readonly seq: number; readonly repeats: number }>();

/**
 * Serializes writers to a lane's inbox, so that a count stays true until its transaction commits.
 * Returns how many messages were waiting when the statement started.
 */
async function lockAndCountWaiting(
  sql: Sql,
  { conversationId, receivedAt }: AdmittedMessage,
): Promise<number> {
  const known = await sql.get(LOCK_CONVERSATION, { id: conversationId });
  if (known !== undefined) return known.waiting;
  ensureConversation(sql, conversationId, receivedAt);
  return (await sql.get(LOCK_CONVERSATION, { id: conversationId }))?.waiting ?? 0;
}

/** More messages than a lane can receive while a writer waits for the lock. */
const AT_ONCE = 16;

/**
 * Counts again only if the count is near the limit, because PostgreSQL counted before it got the
 * lock.
 */
async function isInboxFull(
  sql: Sql,
  conversationId: string,
  waiting: number,
  room: number,
): Promise<boolean> {
  if (waiting + AT_ONCE < room) return false;
  return (await countWaiting(sql, conversationId)) >= room;
}

async function isStored(sql: Sql, message: InboundMessage): Promise<boolean> {
  return (await sql.get(KNOWN, { ...message, chatId: message.chat.id })) !== undefined;
}

/**
 * Stores a message; null if it is already stored. The unique key detects the duplicate rather than
 * a prior query, because two gateways may receive the same message at the same moment (F08).
 */
async function insertOnce(
  sql: Sql,
  admitted: AdmittedMessage,
  state: 'waiting' | 'done',
): Promise<number | null> {
  const row = await sql.get(INSERT, toInboxRow(admitted, state));
  return row?.repeats === 0 ? row.seq : null;
}
