import type { ChatKey, MessageKey } from './conversations.ts';
import { ensureConversation, lockConversation } from './conversations.ts';
import { type Database, defineStatement, type Sql } from './database.ts';
import type { GroupContextMessage } from './rows.ts';

/** The default number of messages kept for a conversation's next turn (F06). */
const KEPT = 50;

/**
 * The maximum length of each kept message in characters, so that 50 messages take at most a few
 * thousand tokens.
 */
const MAX_CHARACTERS = 500;

/**
 * The sender id of Parley's own messages; no platform id contains a space. They are not marked by a
 * message id, because senders may choose message ids.
 */
const OWN_SENDER = 'Parley itself';

/** Whether Parley itself wrote the message. */
export function isBotMessage({ senderId }: Pick<GroupContextMessage, 'senderId'>): boolean {
  return senderId === OWN_SENDER;
}

/** A message that Parley sent to a chat on its own initiative. */
export interface BotMessage {
  /** A key that is unique in the chat. */
  readonly key: string;
  /** The kind of message, as described to the model. */
  readonly what: string;
  readonly text: string;
}

/**
 * The group context, stored in the `group_context` table: messages from served groups that did not
 * address the bot (F06), reactions to messages (`reactions.ts`), and messages that Parley sent on
 * its own initiative, including in direct chats. Claiming a turn assigns these messages to it, and
 * the turn's commit deletes them. `/new` deletes messages that turns have not claimed; `/stop`
 * leaves them for the next turn. A power cut may lose the newest messages, which is acceptable
 * because they do not need an answer.
 */
export function createGroupContextRepository(database: Database) {
  return {
    /**
     * Stores a message for the conversation's next turn and keeps the newest `most`. Truncates a
     * long message and marks it as truncated; stores a duplicate only once.
     */
    keep: (
      place: ContextKey,
      message: GroupContextMessage,
      now: number,
      most = KEPT,
    ): Promise<void> =>
      database.write((sql) => storeGroupContext(sql, place, message, { now, most }), 'process'),
    /**
     * Moves the context that waits for a conversation's next turn to another conversation. Does not
     * lock either conversation, because the move does not depend on a previous read.
     */
    move: (from: string, to: string, now: number): Promise<void> =>
      database.write(async (sql) => {
        ensureConversation(sql, to, now);
        sql.send(MOVE, { from, to });
      }, 'process'),
    /**
     * Like `keep`, for a message from Parley itself, to which people may reply (P18). Evicts only
     * other messages of the same kind.
     */
    keepOwn: (place: ContextKey, { key, what, text }: BotMessage, now: number): Promise<void> => {
      const message = { messageId: `own ${key}`, senderId: OWN_SENDER, senderName: what, text };
      return database.write(async (sql) => {
        await addGroupContext(sql, place, message, now);
        sql.send(PRUNE_OWN, place);
      }, 'process');
    },
  };
}

/** A chat, and the conversation whose next turn sees the chat's context. */
export type ContextKey = ChatKey & { readonly conversationId: string };

/**
 * Stores a notice from Parley itself together with the outbox part that shows it. Does not lock the
 * conversation, because the transaction may already hold another lock and does not depend on a
 * previous read.
 */
export function storeGroupNotice(
  sql: Sql,
  place: ContextKey,
  { key, text }: Pick<BotMessage, 'key' | 'text'>,
  now: number,
): void {
  ensureConversation(sql, place.conversationId, now);
  const message = { messageId: `own ${key}`, senderId: OWN_SENDER, senderName: 'notice' };
  sql.send(KEEP, { ...place, ...message, text: truncateGroupText(text), now });
  sql.send(PRUNE_OWN, place);
}

/** `former` runs before the insert and removes the entries that the new one replaces. */
export async function storeGroupContext(
  sql: Sql,
  place: ContextKey,
  message: GroupContextMessage,
  { now, most }: { readonly now: number; readonly most: number },
  former: () => void = () => {},
): Promise<void> {
  await addGroupContext(sql, place, message, now, former);
  sql.send(PRUNE, { ...place, spared: Math.max(1, most) - 1 });
}

async function addGroupContext(
  sql: Sql,
  place: ContextKey,
  message: GroupContextMessage,
  now: number,
  former: () => void = () => {},
): Promise<void> {
  ensureConversation(sql, place.conversationId, now);
  await lockConversation(sql, place.conversationId);
  former();
  sql.send(KEEP, { ...place, ...message, text: truncateGroupText(message.text), now });
}

const KEEP = defineStatement(`
  insert into group_context (conversation_id, channel, account, chat_id, message_id, sender_id,
    sender_name, text, received_at)
  values (:conversationId, :channel, :account, :chatId, :messageId, :senderId,
    :senderName, :text, :now)
  on conflict (channel, account, chat_id, message_id) do nothing`);

const WAITING = 'conversation_id = :conversationId and turn_id is null';

/** SQL condition: context is waiting for the next turn of `:conversationId`. */
export const HAS_GROUP_CONTEXT = `exists (select 1 from group_context
  where group_context.conversation_id = :conversationId and group_context.turn_id is null)`;

const PRUNE = defineStatement(`
  delete from group_context where ${WAITING} and seq < (
    select seq from group_context where ${WAITING} order by seq desc limit 1 offset :spared)`);

const OWN = `${WAITING} and sender_id = '${OWN_SENDER}'`;
const PRUNE_OWN = defineStatement(`
  delete from group_context where ${OWN} and seq < (
    select seq from group_context where ${OWN} order by seq desc limit 1 offset ${KEPT - 1})`);

/**
 * Selects a turn's context and the waiting entries. When a turn is released, the number of entries
 * is limited to the number that the turn had, or to the default if that is larger.
 */
const ITS_OWN = 'conversation_id = :conversationId and (turn_id is null or turn_id = :turnId)';
const PRUNE_BEFORE_RELEASE = defineStatement(`
  delete from group_context where ${ITS_OWN} and seq < (
    select seq from group_context where ${ITS_OWN} order by seq desc limit 1 offset (
      select case when count(*) > ${KEPT} then count(*) else ${KEPT} end - 1
      from group_context where turn_id = :turnId))`);

const ASSIGN_TO_TURN = defineStatement(
  `update group_context set turn_id = :turnId where ${WAITING}`,
);

const OF_TURN = defineStatement(`
  select message_id as "messageId", sender_id as "senderId", sender_name as "senderName", text
  from group_context where turn_id = :turnId order by seq`).rows<GroupContextMessage>();

const FORGET = defineStatement('delete from group_context where turn_id = :turnId');

const RELEASE = defineStatement('update group_context set turn_id = null where turn_id = :turnId');

const MOVE = defineStatement(`
  update group_context set conversation_id = :to where conversation_id = :from and turn_id is null`);

const CLEAR = defineStatement(`delete from group_context where ${WAITING}`);

const MESSAGE = `channel = :channel and account = :account and chat_id = :chatId
  and message_id = :messageId and turn_id is null`;

const WITHDRAW = defineStatement(`delete from group_context where ${MESSAGE}`);

const REVISE = defineStatement(`update group_context set text = :text where ${MESSAGE}`);

/** Assigns waiting context to a turn that is starting; the caller has locked the conversation. */
export async function claimGroupContext(
  sql: Sql,
  conversationId: string,
  turnId: string,
): Promise<readonly GroupContextMessage[]> {
  const taken = await sql.run(ASSIGN_TO_TURN, { conversationId, turnId });
  return taken > 0 ? readGroupContext(sql, turnId) : [];
}

/** Reads the context assigned to a turn, oldest first. */
export function readGroupContext(
  sql: Sql,
  turnId: string,
): Promise<readonly GroupContextMessage[]> {
  return sql.all(OF_TURN, { turnId });
}

export function deleteGroupContext(sql: Sql, turnId: string): void {
  sql.send(FORGET, { turnId });
}

/** Leaves a stopped turn's context for the next turn. */
export function releaseGroupContext(sql: Sql, conversationId: string, turnId: string): void {
  sql.send(PRUNE_BEFORE_RELEASE, { conversationId, turnId });
  sql.send(RELEASE, { turnId });
}

/** Deletes context that turns have not claimed yet. */
export function clearGroupContext(sql: Sql, conversationId: string): void {
  sql.send(CLEAR, { conversationId });
}

/**
 * Applies an author's edit of a message, or deletes the message if the edit is null; false if no
 * message waits under this key.
 */
export async function reviseGroupContext(
  sql: Sql,
  message: MessageKey,
  text: string | null,
): Promise<boolean> {
  if (text === null) return (await sql.run(WITHDRAW, message)) > 0;
  return (await sql.run(REVISE, { ...message, text: truncateGroupText(text) })) > 0;
}

/** A truncated text is marked with its original length (P10). */
function truncateGroupText(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS).toWellFormed()}… [cut: ${MAX_CHARACTERS} of ${text.length} characters]`;
}
