/** The witnesses of how much time has passed. Moments are ms since 1970. */
export interface AgeWitnesses {
  /** On the clock of this process. */
  readonly now: number;
  /** On the clock of the database; absent for what is not in it. */
  readonly database?: number;
  /** When the newest thing of the kind was written; null: there is none, so nothing is old. */
  readonly newest: number | null;
  /** The last time that old things were removed; null: never. */
  readonly last: LastRemoval | null;
  /** Time since then that this process has measured with a monotonic clock, in ms; null: it has not run that long. */
  readonly measuredMs: number | null;
}

export interface LastRemoval {
  /** When it ended, on the clock of the process that did it. */
  readonly at: number;
  /** The moment from which ages were counted. */
  readonly countedTo: number;
}

/** From when ages are counted, and what keeps that behind the clock of this process. */
export interface AgingDecision {
  readonly countFrom: number;
  /** The lag behind `now`, in ms; 0: all agree. */
  readonly heldMs: number;
  readonly heldBy: 'database-clock' | 'newest' | 'last-removal' | null;
}

const DAY_MS = 24 * 60 * 60_000;

/** The newest thing may be this old while all is well: people are silent for a night. */
const NEWEST_WITHIN_MS = DAY_MS;

/** In one day at most what falls due in so many days is removed, so that what a long pause has left catches up. */
export const DAYS_PER_DAY = 2;

/**
 * Decides from which moment ages are counted, so that no wrong clock removes what people still need: all witnesses
 * must agree that time has passed, and even then it passes at twice its pace at most. A clock that is years ahead
 * costs what falls due in two days; one that is behind, nothing. Settings that keep less count at once.
 */
export function decideAging(witnesses: AgeWitnesses): AgingDecision {
  const { now, database = now, newest, last } = witnesses;
  const bounds = [
    { heldBy: 'database-clock', until: database },
    { heldBy: 'newest', until: newest === null ? 0 : newest + NEWEST_WITHIN_MS },
    { heldBy: 'last-removal', until: last === null ? 0 : last.countedTo + allowance(witnesses) },
  ] as const;
  const lowest = bounds.reduce((low, bound) => (bound.until < low.until ? bound : low));
  if (lowest.until >= now) return { countFrom: now, heldMs: 0, heldBy: null };
  return { countFrom: lowest.until, heldMs: now - lowest.until, heldBy: lowest.heldBy };
}

/**
 * The moment from which the ages of files are counted, at a start: the newest of them says when something was last
 * done. Nothing is older than it by more than a day has added.
 */
export function countFromNewest(now: number, newest: number | null): number {
  const last = newest === null ? null : { at: newest, countedTo: newest };
  return decideAging({ now, newest, last, measuredMs: null }).countFrom;
}

/** The most that the moment may advance: by the measured time, else by both clocks, for a day at most. */
function allowance({ now, database = now, last, measuredMs }: AgeWitnesses): number {
  const passed = measuredMs ?? Math.min(now, database) - (last?.at ?? now);
  return DAYS_PER_DAY * Math.max(0, Math.min(passed, DAY_MS));
}

/**
 * The moment to note after a removal. It never goes back, or a clock that was behind for a minute would hold
 * everything for years; what it is ahead of `now` is cut off when it is used. The first note comes from a round that
 * removes nothing.
 */
export function countedTo(witnesses: AgeWitnesses): number {
  const { now, database = now, last } = witnesses;
  if (last === null) return Math.min(now, database);
  return Math.max(last.countedTo, decideAging(witnesses).countFrom);
}
