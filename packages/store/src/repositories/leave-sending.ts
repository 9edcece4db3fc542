import type { ExpressionBuilder, Updateable } from 'kysely';
import type { Sql } from '../database.ts';
import type { NamedLease } from '../leases.ts';
import type { PartState } from '../outbox.ts';
import { StoreError } from '../store-error.ts';
import type { OutboxTable } from '../tables/outbound-tables.ts';
import type { Tables } from '../tables.ts';

/** What becomes of a part that is not being sent any more. */
export type Change = Updateable<OutboxTable> & { readonly state: Exclude<PartState, 'sending'> };

/** Attempts that count, and why it is put off. */
export interface Tried {
  readonly attempts: number;
  readonly retry?: PartRetry;
}

/** A time a part was put off: until when, in ms, and why. */
export interface PartRetry {
  readonly until: number;
  readonly reason: string;
}

/** Five minutes of refusals by a platform need not all be kept, in characters. */
const MOST_RETRIES = 4_000;

/** One more line, written by the database itself, so that nothing has to be read before. */
function withRetry(eb: ExpressionBuilder<Tables, 'outbox'>, retry: PartRetry) {
  const line = `${retry.until} ${retry.reason.slice(0, 300).replace(/\s+/g, ' ')}\n`;
  return eb
    .case()
    .when(eb.fn<number>('length', ['retries']), '>', MOST_RETRIES)
    .then(eb.ref('retries'))
    .else(eb(eb.fn.coalesce('retries', eb.val('')), '||', line))
    .end();
}

/** How often a part was put off, and why. */
export function readRetries(retries: string | null): readonly PartRetry[] {
  return (retries ?? '').split('\n').flatMap((line) => {
    const [, until, reason] = /^(\d+) (.*)$/.exec(line) ?? [];
    return until === undefined ? [] : [{ until: Number(until), reason: reason ?? '' }];
  });
}

/**
 * Moves a part out of `sending`; harmless, and false, when it has arrived there already, because the
 * answer of a first call may have been lost. Throws StoreError `store-part-state` when it is elsewhere, or
 * was taken over under a later lease: then somebody else decides about this part.
 */
export async function leaveSending(
  sql: Sql,
  { partId, lease }: { readonly partId: string; readonly lease: NamedLease | null },
  change: Change,
  tried: Tried = { attempts: 0 },
): Promise<boolean> {
  const result = await sql
    .updateTable('outbox')
    .set((eb) => ({
      ...change,
      attempts: eb('attempts', '+', tried.attempts),
      ...(tried.retry !== undefined && { retries: withRetry(eb, tried.retry) }),
    }))
    .where('id', '=', partId)
    .where('state', '=', 'sending')
    .$if(lease !== null, (part) => part.where('sender', '=', lease?.epoch ?? null))
    .executeTakeFirst();
  if (result.numUpdatedRows > 0n) return true;
  const row = await sql
    .selectFrom('outbox')
    .select('state')
    .where('id', '=', partId)
    .executeTakeFirst();
  if (row?.state === change.state) return false;
  throw new StoreError(
    'store-part-state',
    `Part ${partId} cannot become ${change.state}: it is ${row?.state ?? 'unknown to the outbox'}, ` +
      'not being sent. Only the gateway that marked it as sending may decide about it.',
  );
}
