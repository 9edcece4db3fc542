/** A delayed row: the start and end of the delay, in wall-clock ms. */
interface DelayedRow {
  readonly waitsSince: number;
  readonly notBefore: number;
}

/**
 * Computes how long a row still has to wait, in ms. A delay that appears to start in the future
 * means that the clock was set back, so the rest of the delay is unknown and the row is due. A
 * clock change thus never lengthens a delay.
 */
export function computeRemainingDelay({ waitsSince, notBefore }: DelayedRow, now: number): number {
  return now < waitsSince ? 0 : Math.max(0, notBefore - now);
}

/**
 * The rule of `computeRemainingDelay` as an SQL condition, for tables that set `updated_at` when
 * they delay a row.
 */
export function buildDueCondition<const Table extends string>(table: Table) {
  return `(${table}.not_before <= :now or ${table}.updated_at > :now)` as const;
}
