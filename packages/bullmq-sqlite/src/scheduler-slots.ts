/** What decides the next run of an `every` scheduler; all values in ms, times as Unix ms. */
export interface EveryFacts {
  /** The run planned before this one, or undefined at the start or when `every` changed. */
  readonly previous: number | undefined;
  readonly every: number;
  readonly now: number;
  /** Shift of the slots against multiples of `every`; 0 when not yet known. */
  readonly offset: number;
  readonly startDate: number | string | Date | undefined;
}

/**
 * The next run of an `every` scheduler, and the offset that keeps its slots where they are. The
 * first run is at once; runs missed while nobody worked are skipped, never made up for.
 */
export function nextEveryRun(facts: EveryFacts): { nextRun: number; offset: number } {
  const nextRun = Math.floor(
    facts.previous === undefined ? firstRun(facts) : followingRun(facts, facts.previous),
  );
  const offset = facts.offset || nextRun - Math.floor(nextRun / facts.every) * facts.every;
  return { nextRun, offset: Math.floor(offset) };
}

function firstRun({ every, now, offset, startDate }: EveryFacts): number {
  if (startDate) return Math.max(toMs(startDate), now);
  if (offset > 0) return slotAfter(now, every, offset);
  return now;
}

function followingRun({ every, now, offset }: EveryFacts, previous: number): number {
  const next = previous + every;
  return next < now ? slotAfter(now, every, offset) : next;
}

function slotAfter(now: number, every: number, offset: number): number {
  const slot = Math.floor(now / every) * every + offset;
  return slot <= now ? slot + every : slot;
}

function toMs(date: number | string | Date): number {
  return date instanceof Date ? date.getTime() : Number(date);
}
