import type { Selectable } from 'kysely';
import type { Sql } from '../database.ts';
import type { Lease } from '../rows.ts';
import { statement } from '../statement.ts';
import type { ConversationTable } from '../tables/lane-tables.ts';

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
