/**
 * The current time for leases, in ms, or null for PostgreSQL's own clock. On SQLite, one process
 * owns the data folder, so its clock is the only one.
 */
export type SharedClock = () => number | null;

/**
 * SQL for the current time on the clock that all processes of a deployment share. A statement that
 * uses it binds `:moment` to the value of the `SharedClock`. PostgreSQL uses the start of the
 * transaction, which is never later than the statement. A lease therefore never looks older than it
 * is, and a lease whose statement waited for a lock does not outlast its holder's expectation.
 */
export const SHARED_NOW =
  '/*pg coalesce(cast( */:moment /*pg as bigint), cast(extract(epoch from now()) * 1000 as bigint))*/' as const;

/**
 * SQL for the time at which the statement runs. This time shows whether a lease ends later than a
 * new lease would, which means that it was taken before the clock was set back. If it were compared
 * with the start of the transaction, a lease that was renewed while the transaction waited for a
 * lock would look the same.
 */
export const STATEMENT_NOW =
  '/*pg coalesce(cast( */:moment /*pg as bigint), cast(extract(epoch from clock_timestamp()) * 1000 as bigint))*/' as const;
