/** A row that waits: from when it was put off until it may be tried, in ms of the wall clock. */
interface Waiting {
  readonly waitsSince: number;
  readonly notBefore: number;
}

/**
 * The remaining wait of a row, in ms. One that was put off in what is now the future is due: the clock was set back,
 * and how much of the wait is left is not known. So no step of the clock lets a row wait longer than it was put off
 * for.
 */
export function untilDue({ waitsSince, notBefore }: Waiting, now: number): number {
  return now < waitsSince ? 0 : Math.max(0, notBefore - now);
}

/** `untilDue` as the condition of a statement, for tables that set `updated_at` when they put a row off. */
export function isDue<const Table extends string>(table: Table) {
  return `(${table}.not_before <= :now or ${table}.updated_at > :now)` as const;
}
