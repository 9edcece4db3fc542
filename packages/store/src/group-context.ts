import type { ChatKey, MessageKey } from './conversations.ts';
import { ensureConversation, lockConversation } from './conversations.ts';
import { type Database, type Sql, statement } from './database.ts';
import type { GroupContextMessage } from './rows.ts';

/** Messages that the next turn of a conversation gets, where the caller sets no other number (F06). */
const KEPT = 50;

/** The longest part of each message, in characters: 50 of them are at most a few thousand tokens. */
const MAX_CHARACTERS = 500;

/** The sender of what Parley sent by itself; no platform has ids with a space. Not the message's id: senders may choose that. */
const OWN_SENDER = 'Parley itself';

/** No person wrote it. */
export function isOwnMessage({ senderId }: Pick<GroupContextMessage, 'senderId'>): boolean {
  return senderId === OWN_SENDER;
}

/** A message that Parley sent to a chat by itself. */
export interface OwnMessage {
  /** Unique in its chat. */
  readonly key: string;
  /** Its kind, for the model. */
  readonly what: string;
  readonly text: string;
}

/**
 * The group context, table `group_context`: messages of served groups that did not address the bot (F06), and
 * reactions to messages (`reactions.ts`) and what Parley sent by itself, also in direct chats. The claim of a turn takes them and its commit deletes them; `/new` deletes those that no turn has, `/stop` leaves
 * them to the next turn. A power cut may lose the newest: no answer was promised to them.
 */
export function groupContextRepository(database: Database) {
  return {
    /**
     * Keeps one message for the next turn of the conversation, and of all that wait the newest `most`.
     * A long one is cut and says so; a message that arrives twice is kept once.
     */
    keep: (
      place: ContextKey,
      message: GroupContextMessage,
      now: number,
      most = KEPT,
    ): Promise<void> =>
      database.write((sql) => keepGroupContext(sql, place, message, { now, most }), 'process'),
    /** The same for a message of Parley itself, which people may answer (P18); only such ones make room for it. */
    keepOwn: (place: ContextKey, { key, what, text }: OwnMessage, now: number): Promise<void> => {
      const message = { messageId: `own ${key}`, senderId: OWN_SENDER, senderName: what, text };
      return database.write(async (sql) => {
        await addGroupContext(sql, place, message, now);
        sql.send(PRUNE_OWN, place);
      }, 'process');
    },
  };
}

/** The chat in which something was said, and the conversation whose next turn gets it. */
export type ContextKey = ChatKey & { readonly conversationId: string };

/**
 * Keeps a notice of Parley itself beside the part that shows it. No conversation is locked: the transaction may hold
 * another one already, and nothing here depends on what was read.
 */
export function keepNotice(
  sql: Sql,
  place: ContextKey,
  { key, text }: Pick<OwnMessage, 'key' | 'text'>,
  now: number,
): void {
  ensureConversation(sql, place.conversationId, now);
  const message = { messageId: `own ${key}`, senderId: OWN_SENDER, senderName: 'notice' };
  sql.send(KEEP, { ...place, ...message, text: cutGroupText(text), now });
  sql.send(PRUNE_OWN, place);
}

/** `former` is sent before, for a line that takes the place of others. */
export async function keepGroupContext(
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
  sql.send(KEEP, { ...place, ...message, text: cutGroupText(message.text), now });
}

const KEEP = statement(`
  insert into group_context (conversation_id, channel, account, chat_id, message_id, sender_id,
    sender_name, text, received_at)
  values (:conversationId, :channel, :account, :chatId, :messageId, :senderId,
    :senderName, :text, :now)
  on conflict (channel, account, chat_id, message_id) do nothing`);

const WAITING = 'conversation_id = :conversationId and turn_id is null';

/** Condition: some waits for the next turn of `:conversationId`. */
export const HAS_GROUP_CONTEXT = `exists (select 1 from group_context
  where group_context.conversation_id = :conversationId and group_context.turn_id is null)`;

const PRUNE = statement(`
  delete from group_context where ${WAITING} and seq < (
    select seq from group_context where ${WAITING} order by seq desc limit 1 offset :spared)`);

const OWN = `${WAITING} and sender_id = '${OWN_SENDER}'`;
const PRUNE_OWN = statement(`
  delete from group_context where ${OWN} and seq < (
    select seq from group_context where ${OWN} order by seq desc limit 1 offset ${KEPT - 1})`);

/** The context of a turn and the waiting lines, but no more than the turn had, or the usual number. */
const ITS_OWN = 'conversation_id = :conversationId and (turn_id is null or turn_id = :turnId)';
const PRUNE_BEFORE_RELEASE = statement(`
  delete from group_context where ${ITS_OWN} and seq < (
    select seq from group_context where ${ITS_OWN} order by seq desc limit 1 offset (
      select case when count(*) > ${KEPT} then count(*) else ${KEPT} end - 1
      from group_context where turn_id = :turnId))`);

const ASSIGN_TO_TURN = statement(`update group_context set turn_id = :turnId where ${WAITING}`);

const OF_TURN = statement(`
  select message_id as "messageId", sender_id as "senderId", sender_name as "senderName", text
  from group_context where turn_id = :turnId order by seq`).rows<GroupContextMessage>();

const FORGET = statement('delete from group_context where turn_id = :turnId');

const RELEASE = statement('update group_context set turn_id = null where turn_id = :turnId');

const CLEAR = statement(`delete from group_context where ${WAITING}`);

const MESSAGE = `channel = :channel and account = :account and chat_id = :chatId
  and message_id = :messageId and turn_id is null`;

const WITHDRAW = statement(`delete from group_context where ${MESSAGE}`);

const REVISE = statement(`update group_context set text = :text where ${MESSAGE}`);

/** Assigns the context to a turn that begins; the caller has locked the conversation. */
export async function claimGroupContext(
  sql: Sql,
  conversationId: string,
  turnId: string,
): Promise<readonly GroupContextMessage[]> {
  const taken = await sql.run(ASSIGN_TO_TURN, { conversationId, turnId });
  return taken > 0 ? groupContextOf(sql, turnId) : [];
}

/** The context that was assigned to a turn, oldest first. */
export function groupContextOf(sql: Sql, turnId: string): Promise<readonly GroupContextMessage[]> {
  return sql.all(OF_TURN, { turnId });
}

export function deleteGroupContext(sql: Sql, turnId: string): void {
  sql.send(FORGET, { turnId });
}

/** Leaves the context of a stopped turn to the next one. */
export function releaseGroupContext(sql: Sql, conversationId: string, turnId: string): void {
  sql.send(PRUNE_BEFORE_RELEASE, { conversationId, turnId });
  sql.send(RELEASE, { turnId });
}

/** Deletes the context that no turn has taken yet. */
export function clearGroupContext(sql: Sql, conversationId: string): void {
  sql.send(CLEAR, { conversationId });
}

/** Its author edited (or, with null, deleted) a message. False when no message waits under this key. */
export async function reviseGroupContext(
  sql: Sql,
  message: MessageKey,
  text: string | null,
): Promise<boolean> {
  if (text === null) return (await sql.run(WITHDRAW, message)) > 0;
  return (await sql.run(REVISE, { ...message, text: cutGroupText(text) })) > 0;
}

/** A cut text says so, and how long it was (P10). */
function cutGroupText(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS).toWellFormed()}… [cut: ${MAX_CHARACTERS} of ${text.length} characters]`;
}
