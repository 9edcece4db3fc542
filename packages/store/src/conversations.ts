import type { Generated, Selectable } from 'kysely';
import type { Sql } from './database.ts';
import type { ConversationMode } from './modes.ts';
import type { Lease } from './rows.ts';
import { statement } from './statement.ts';

const ENSURE = statement(
  'insert into conversation (id, created_at) values (:id, :now) on conflict (id) do nothing',
);

// On SQLite the transaction itself keeps the others out.
const LOCK = statement(`
  select epoch, session, lease_owner, lease_until, mode, plan, plan_run from conversation
  where id = :id /*pg for no key update*/`).rows<
  Omit<Selectable<ConversationTable>, 'id' | 'created_at'>
>();

/** Makes sure that a conversation has its row. */
export function ensureConversation(sql: Sql, id: string, now: number): void {
  sql.send(ENSURE, { id, now });
}

/**
 * Reads a conversation and keeps every other writer of it waiting until this transaction ends, in the
 * lock order of this package (README). Rows that merely refer to it are not kept waiting: the check of
 * a foreign key asks for `key share`, which `for update` would block.
 */
export function lockConversation(sql: Sql, id: string) {
  return sql.get(LOCK, { id });
}

/** The conversation if the lease still holds it, else null: then nothing may be written. */
export async function lockLeased(sql: Sql, lease: Lease) {
  const conversation = await lockConversation(sql, lease.conversationId);
  return conversation?.epoch === lease.epoch ? conversation : null;
}

/** Whether a turn is neither stopped nor of a session that `/new` has ended. */
export async function isTurnRunning(sql: Sql, turnId: string): Promise<boolean> {
  const turn = await sql
    .selectFrom('turn')
    .innerJoin('conversation', 'conversation.id', 'turn.conversation_id')
    .select(['turn.session as began', 'conversation.session as now'])
    .where('turn.id', '=', turnId)
    .where('turn.state', '=', 'running')
    .executeTakeFirst();
  return turn !== undefined && turn.began === turn.now;
}

/** One chat as a lane: fencing epoch, `/new` counter and the lease of the worker on it. */
export interface ConversationTable {
  id: string;
  epoch: Generated<number>;
  session: Generated<number>;
  lease_owner: Generated<string | null>;
  lease_until: Generated<number | null>;
  mode: Generated<ConversationMode>;
  /** The turn whose plan may be run; null when there is none, or something newer was said. */
  plan: Generated<string | null>;
  /** 1: it was run. */
  plan_run: Generated<number>;
  created_at: number;
}
