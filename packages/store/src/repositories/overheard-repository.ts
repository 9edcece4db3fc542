import type { ExpressionBuilder } from 'kysely';
import type { Database, Sql } from '../database.ts';
import type { MessageKey } from '../inbox.ts';
import type { OverheardRepository } from '../overheard.ts';
import type { Overheard } from '../rows.ts';
import type { Tables } from '../tables.ts';
import { ensureConversation, lockConversation } from './conversation.ts';

/** As many as the next turn gets to see (F06). */
const KEPT = 50;
/** Of each message, in characters: 50 of them are at most a few thousand tokens. */
const LONGEST = 500;

const COLUMNS = ['message_id', 'sender_id', 'sender_name', 'text'] as const;

/** What groups said, on SQL. A power cut may take the last of it: nobody was promised an answer. */
export function overheardRepository(database: Database): OverheardRepository {
  return {
    keep: ({ conversationId, channel, account, chatId }, heard, now) =>
      database.write(async (sql) => {
        await ensureConversation(sql, conversationId, now);
        await lockConversation(database, sql, conversationId);
        await sql
          .insertInto('overheard')
          .values({
            conversation_id: conversationId,
            channel,
            account,
            chat_id: chatId,
            message_id: heard.messageId,
            sender_id: heard.senderId,
            sender_name: heard.senderName,
            text: cut(heard.text),
            heard_at: now,
          })
          .onConflict((conflict) =>
            conflict.columns(['channel', 'account', 'chat_id', 'message_id']).doNothing(),
          )
          .execute();
        await prune(sql, conversationId);
      }, 'process'),
  };
}

/** Gives what waits to a turn that begins; the caller has locked the conversation. */
export async function takeOverheard(
  sql: Sql,
  conversationId: string,
  turnId: string,
): Promise<readonly Overheard[]> {
  const taken = await sql
    .updateTable('overheard')
    .set({ turn_id: turnId })
    .where('conversation_id', '=', conversationId)
    .where('turn_id', 'is', null)
    .executeTakeFirst();
  return taken.numUpdatedRows > 0n ? overheardBy(sql, turnId) : [];
}

/** What a turn took when it began, oldest first. */
export async function overheardBy(sql: Sql, turnId: string): Promise<readonly Overheard[]> {
  const rows = await sql
    .selectFrom('overheard')
    .select(COLUMNS)
    .where('turn_id', '=', turnId)
    .orderBy('seq')
    .execute();
  return rows.map((row) => ({
    messageId: row.message_id,
    senderId: row.sender_id,
    senderName: row.sender_name,
    text: row.text,
  }));
}

/** Forgets what a turn has used. */
export async function forgetOverheard(sql: Sql, turnId: string): Promise<void> {
  await sql.deleteFrom('overheard').where('turn_id', '=', turnId).execute();
}

/** Lets the next turn have what a stopped one did not come to use. */
export async function giveBackOverheard(
  sql: Sql,
  conversationId: string,
  turnId: string,
): Promise<void> {
  await sql.updateTable('overheard').set({ turn_id: null }).where('turn_id', '=', turnId).execute();
  await prune(sql, conversationId);
}

/** Forgets what no turn has taken yet. */
export async function clearOverheard(sql: Sql, conversationId: string): Promise<void> {
  await sql
    .deleteFrom('overheard')
    .where('conversation_id', '=', conversationId)
    .where('turn_id', 'is', null)
    .execute();
}

/** Its author changed (or, with null, deleted) a message that waits. False when none does. */
export async function reviseOverheard(
  sql: Sql,
  { channel, account, chatId, messageId }: MessageKey,
  text: string | null,
): Promise<boolean> {
  const isThis = ({ and, eb }: ExpressionBuilder<Tables, 'overheard'>) =>
    and([
      eb('channel', '=', channel),
      eb('account', '=', account),
      eb('chat_id', '=', chatId),
      eb('message_id', '=', messageId),
      eb('turn_id', 'is', null),
    ]);
  if (text === null) {
    const gone = await sql.deleteFrom('overheard').where(isThis).executeTakeFirst();
    return gone.numDeletedRows > 0n;
  }
  const changed = await sql
    .updateTable('overheard')
    .set({ text: cut(text) })
    .where(isThis)
    .executeTakeFirst();
  return changed.numUpdatedRows > 0n;
}

/** Says that it was cut and how long the whole is (P10). */
function cut(text: string): string {
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, LONGEST).toWellFormed()}… [cut: ${LONGEST} of ${text.length} characters]`;
}

async function prune(sql: Sql, conversationId: string): Promise<void> {
  const oldestKept = sql
    .selectFrom('overheard')
    .select('seq')
    .where('conversation_id', '=', conversationId)
    .where('turn_id', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .offset(KEPT - 1);
  await sql
    .deleteFrom('overheard')
    .where('conversation_id', '=', conversationId)
    .where('turn_id', 'is', null)
    .where('seq', '<', oldestKept)
    .execute();
}
