import type { Database, Sql } from '../database.ts';
import type { Lease } from '../rows.ts';

/** Makes sure that a conversation has its row. */
export async function ensureConversation(sql: Sql, id: string, now: number): Promise<void> {
  await sql
    .insertInto('conversation')
    .values({ id, created_at: now })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/**
 * Reads a conversation and keeps every other writer of it waiting until this transaction ends, in the
 * lock order of this package (README). Rows that merely refer to it are not kept waiting: the check of
 * a foreign key asks for `key share`, which `for update` would block.
 */
export async function lockConversation(database: Database, sql: Sql, id: string) {
  const query = sql
    .selectFrom('conversation')
    .select(['epoch', 'session', 'lease_owner', 'lease_until', 'mode', 'plan', 'plan_run'])
    .where('id', '=', id);
  // On SQLite the transaction itself keeps the others out.
  const locking = database.dialect === 'postgres' ? query.forNoKeyUpdate() : query;
  return await locking.executeTakeFirst();
}

/** The conversation if the lease still holds it, else null: then nothing may be written. */
export async function lockLeased(database: Database, sql: Sql, lease: Lease) {
  const conversation = await lockConversation(database, sql, lease.conversationId);
  return conversation?.epoch === lease.epoch ? conversation : null;
}
