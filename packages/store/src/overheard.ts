import { ensureConversation, lockConversation } from './conversations.ts';
import type { Database, Sql } from './database.ts';
import type { MessageKey } from './inbox.ts';
import type { ChatKey } from './outbox-parts.ts';
import type { Overheard } from './rows.ts';
import { statement } from './statement.ts';

/** As many as the next turn gets to see (F06). */
const KEPT = 50;

/** Of each message, in characters: 50 of them are at most a few thousand tokens. */
const LONGEST = 500;

/**
 * What served groups say without addressing the bot (F06). A turn takes it with its claim and forgets it
 * with its commit; `/new` forgets what waits, `/stop` lets the next turn have it.
 */
export type OverheardRepository = ReturnType<typeof overheardRepository>;

/** The table `overheard`. A power cut may take the last of it: nobody was promised an answer. */
export function overheardRepository(database: Database) {
  return {
    /**
     * Keeps one message for the next turn of the conversation, and of all that wait the newest 50.
     * A long one is cut and says so; a message that is told twice is kept once.
     */
    keep: (
      { conversationId, channel, account, chatId }: ChatKey & { readonly conversationId: string },
      { text, messageId, senderId, senderName }: Overheard,
      now: number,
    ): Promise<void> =>
      database.write(async (sql) => {
        ensureConversation(sql, conversationId, now);
        await lockConversation(sql, conversationId);
        const place = { conversationId, channel, account, chatId, messageId };
        sql.send(KEEP, { ...place, senderId, senderName, text: cut(text), now });
        sql.send(PRUNE, { conversationId });
      }, 'process'),
  };
}

const KEEP = statement(`
  insert into overheard (conversation_id, channel, account, chat_id, message_id, sender_id,
    sender_name, text, heard_at)
  values (:conversationId, :channel, :account, :chatId, :messageId, :senderId,
    :senderName, :text, :now)
  on conflict (channel, account, chat_id, message_id) do nothing`);

const WAITING = 'conversation_id = :conversationId and turn_id is null';

const PRUNE = statement(`
  delete from overheard where ${WAITING} and seq < (
    select seq from overheard where ${WAITING} order by seq desc limit 1 offset ${KEPT - 1})`);

const TAKE = statement(`update overheard set turn_id = :turnId where ${WAITING}`);

const OF_TURN = statement(`
  select message_id as "messageId", sender_id as "senderId", sender_name as "senderName", text
  from overheard where turn_id = :turnId order by seq`).rows<Overheard>();

const FORGET = statement('delete from overheard where turn_id = :turnId');

const GIVE_BACK = statement('update overheard set turn_id = null where turn_id = :turnId');

const CLEAR = statement(`delete from overheard where ${WAITING}`);

const MESSAGE = `channel = :channel and account = :account and chat_id = :chatId
  and message_id = :messageId and turn_id is null`;

const WITHDRAW = statement(`delete from overheard where ${MESSAGE}`);

const REVISE = statement(`update overheard set text = :text where ${MESSAGE}`);

/** Gives what waits to a turn that begins; the caller has locked the conversation. */
export async function takeOverheard(
  sql: Sql,
  conversationId: string,
  turnId: string,
): Promise<readonly Overheard[]> {
  const taken = await sql.run(TAKE, { conversationId, turnId });
  return taken > 0 ? overheardBy(sql, turnId) : [];
}

/** What a turn took when it began, oldest first. */
export function overheardBy(sql: Sql, turnId: string): Promise<readonly Overheard[]> {
  return sql.all(OF_TURN, { turnId });
}

/** Forgets what a turn has used. */
export function forgetOverheard(sql: Sql, turnId: string): void {
  sql.send(FORGET, { turnId });
}

/** Lets the next turn have what a stopped one did not come to use. */
export function giveBackOverheard(sql: Sql, conversationId: string, turnId: string): void {
  sql.send(GIVE_BACK, { turnId });
  sql.send(PRUNE, { conversationId });
}

/** Forgets what no turn has taken yet. */
export function clearOverheard(sql: Sql, conversationId: string): void {
  sql.send(CLEAR, { conversationId });
}

/** Its author changed (or, with null, deleted) a message that waits. False when none does. */
export async function reviseOverheard(
  sql: Sql,
  { channel, account, chatId, messageId }: MessageKey,
  text: string | null,
): Promise<boolean> {
  const message = { channel, account, chatId, messageId };
  if (text === null) return (await sql.run(WITHDRAW, message)) > 0;
  return (await sql.run(REVISE, { ...message, text: cut(text) })) > 0;
}

/** Says that it was cut and how long the whole is (P10). */
function cut(text: string): string {
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, LONGEST).toWellFormed()}… [cut: ${LONGEST} of ${text.length} characters]`;
}
