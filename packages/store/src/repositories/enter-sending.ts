import type { Sql } from '../database.ts';
import type { NamedLease } from '../leases.ts';
import { StoreError } from '../store-error.ts';

/** Whether somebody still has this lease, as a condition of a query. */
function stillHeld(sql: Sql, { name, epoch }: NamedLease) {
  return sql
    .selectFrom('lease')
    .select('lease.name')
    .where('lease.name', '=', name)
    .where('lease.epoch', '=', epoch)
    .where('lease.owner', 'is not', null);
}

/**
 * pending → sending, under a lease if there is one. False when the part is not pending any more. Throws
 * StoreError `store-fenced` when the lease was lost.
 */
export async function enterSending(
  sql: Sql,
  partId: string,
  lease: NamedLease | null,
  now: number,
): Promise<boolean> {
  const pending = sql
    .updateTable('outbox')
    .set(({ fn, val }) => ({
      state: 'sending',
      sender: lease?.epoch ?? null,
      updated_at: now,
      tried_at: fn.coalesce('tried_at', val(now)),
      sending_at: now,
    }))
    .where('id', '=', partId)
    .where('state', '=', 'pending');
  return held(sql, lease, (fence) =>
    fence === null ? pending : pending.where(({ exists }) => exists(fence)),
  );
}

/**
 * Makes a part that was left in `sending` one of this lease's, so that whoever left it decides nothing
 * any more. False when it is not being sent. Throws StoreError `store-fenced` when the lease was lost.
 */
export async function takeOverSending(
  sql: Sql,
  partId: string,
  lease: NamedLease | null,
): Promise<boolean> {
  const sending = sql
    .updateTable('outbox')
    .set({ sender: lease?.epoch ?? null })
    .where('id', '=', partId)
    .where('state', '=', 'sending');
  return held(sql, lease, (fence) =>
    fence === null ? sending : sending.where(({ exists }) => exists(fence)),
  );
}

type Fence = ReturnType<typeof stillHeld>;

interface Update {
  executeTakeFirst(): Promise<{ readonly numUpdatedRows: bigint }>;
}

/** Runs an update that a lost lease keeps from happening, and tells that from one that found nothing. */
async function held(
  sql: Sql,
  lease: NamedLease | null,
  update: (fence: Fence | null) => Update,
): Promise<boolean> {
  const fence = lease === null ? null : stillHeld(sql, lease);
  const { numUpdatedRows } = await update(fence).executeTakeFirst();
  if (numUpdatedRows > 0n) return true;
  if (lease === null || fence === null || (await fence.executeTakeFirst()) !== undefined)
    return false;
  throw new StoreError(
    'store-fenced',
    `${lease.name} is held by another process now, which sends what is left.`,
  );
}
