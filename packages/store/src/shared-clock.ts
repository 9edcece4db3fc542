/**
 * The moment from which leases count, in ms; null: PostgreSQL's own clock. On SQLite one process owns the data
 * folder, so its clock is the only one.
 */
export type SharedClock = () => number | null;

/**
 * Now, on the one clock that all processes of a deployment share; each statement that has it binds `:moment` to what
 * the `SharedClock` says. PostgreSQL takes the start of the transaction, which is never later than the statement: so
 * a lease never looks older than it is, and one that waited for a lock is not longer than its holder believes.
 */
export const SHARED_NOW =
  '/*pg coalesce(cast( */:moment /*pg as bigint), cast(extract(epoch from now()) * 1000 as bigint))*/' as const;

/**
 * The same when the statement itself runs. A lease that ends later than any can from now on is from before the clock
 * was set back; from the start of the transaction one that was renewed while it waited for a lock looks like that.
 */
export const STATEMENT_NOW =
  '/*pg coalesce(cast( */:moment /*pg as bigint), cast(extract(epoch from clock_timestamp()) * 1000 as bigint))*/' as const;
