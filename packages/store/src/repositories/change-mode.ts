import type { Sql } from '../database.ts';
import type { ConversationMode, ModeChange } from '../modes.ts';

/** The mode somebody asks for; null: they only want to know it. */
export interface ModeWish {
  readonly to: ConversationMode | null;
}

/** Reads or sets the mode of a conversation, which the caller has locked. */
export async function changeMode(
  sql: Sql,
  conversationId: string,
  { to }: ModeWish,
  now: number,
): Promise<ModeChange> {
  const held = await sql
    .selectFrom('conversation')
    .select(['mode', 'mode_since', 'session'])
    .where('id', '=', conversationId)
    .executeTakeFirstOrThrow();
  const before = held.mode;
  if (to === null || to === before) return { before, now: before, runsPlan: false };
  const hasPlanned = before === 'plan' && (await answeredSince(sql, conversationId, held));
  await sql
    .updateTable('conversation')
    .set({ mode: to, mode_since: now })
    .where('id', '=', conversationId)
    .execute();
  return { before, now: to, runsPlan: to === 'agent' && hasPlanned };
}

/** Whether this session has had an answer in the mode: only then is there a plan to run. */
async function answeredSince(
  sql: Sql,
  conversationId: string,
  { mode_since, session }: { readonly mode_since: number; readonly session: number },
): Promise<boolean> {
  const row = await sql
    .selectFrom('transcript')
    .select('seq')
    .where('conversation_id', '=', conversationId)
    .where('session', '=', session)
    .where('role', '=', 'assistant')
    .where('created_at', '>=', mode_since)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
