import type { Updateable } from 'kysely';
import type { Sql } from '../database.ts';
import type { PartState } from '../outbox.ts';
import { StoreError } from '../store-error.ts';
import type { OutboxTable } from '../tables/outbound-tables.ts';

type Change = Updateable<OutboxTable> & { readonly state: Exclude<PartState, 'sending'> };

/**
 * Moves a part out of `sending`; harmless when it has arrived there already, because the answer
 * of a first call may have been lost. Throws StoreError `store-part-state` when it is elsewhere:
 * then somebody else decided about this part.
 */
export async function leaveSending(
  sql: Sql,
  partId: string,
  change: Change,
  countedAttempts = 0,
): Promise<void> {
  const result = await sql
    .updateTable('outbox')
    .set((eb) => ({ ...change, attempts: eb('attempts', '+', countedAttempts) }))
    .where('id', '=', partId)
    .where('state', '=', 'sending')
    .executeTakeFirst();
  if (result.numUpdatedRows > 0n) return;
  const row = await sql
    .selectFrom('outbox')
    .select('state')
    .where('id', '=', partId)
    .executeTakeFirst();
  if (row?.state === change.state) return;
  throw new StoreError(
    'store-part-state',
    `Part ${partId} cannot become ${change.state}: it is ${row?.state ?? 'unknown to the outbox'}, ` +
      'not being sent. Only the gateway that marked it as sending may decide about it.',
  );
}
