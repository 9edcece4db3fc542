/** Evidence of how much time has passed. Moments are ms since 1970. */
export interface AgeEvidence {
  /** The time according to this process's clock. */
  readonly now: number;
  /** The time according to the database's clock; absent for data that is not stored there. */
  readonly database?: number;
  /**
   * When the newest item of its kind was written; null if there is none, in which case nothing is
   * old.
   */
  readonly newest: number | null;
  /** When old items were last removed; null if they never were. */
  readonly last: LastRemoval | null;
  /**
   * The time since the last removal as measured by this process's monotonic clock, in ms; null if
   * the process has not run that long.
   */
  readonly measuredMs: number | null;
}

export interface LastRemoval {
  /** When the retention run was completed, by the clock of the process that ran it. */
  readonly at: number;
  /** The time from which ages were counted. */
  readonly countedTo: number;
}

/** The time from which ages are counted, and how far it lags behind this process's clock. */
export interface AgingDecision {
  readonly countFrom: number;
  /** The lag behind `now`, in ms; 0 when all evidence agrees. */
  readonly heldMs: number;
  readonly heldBy: 'database-clock' | 'newest' | 'last-removal' | null;
}

const DAY_MS = 24 * 60 * 60_000;

/** The newest item is normally at most this old, because people are silent at night. */
const NEWEST_WITHIN_MS = DAY_MS;

/**
 * One day removes at most what becomes due within this many days, so that a backlog after a long
 * pause shrinks.
 */
export const DAYS_PER_DAY = 2;

/**
 * Decides from which time ages are counted, so that a wrong clock does not remove what people still
 * need: all evidence must agree that time has passed, and even then the time advances at most at
 * double speed. A clock that is years ahead removes only what becomes due within two days, and one
 * that is behind removes nothing. Settings that shorten retention apply immediately.
 */
export function decideAging(witnesses: AgeEvidence): AgingDecision {
  const { now, database = now, newest, last } = witnesses;
  const bounds = [
    { heldBy: 'database-clock', until: database },
    { heldBy: 'newest', until: newest === null ? 0 : newest + NEWEST_WITHIN_MS },
    {
      heldBy: 'last-removal',
      until: last === null ? 0 : last.countedTo + computeMaxAdvance(witnesses),
    },
  ] as const;
  const lowest = bounds.reduce((low, bound) => (bound.until < low.until ? bound : low));
  if (lowest.until >= now) return { countFrom: now, heldMs: 0, heldBy: null };
  return { countFrom: lowest.until, heldMs: now - lowest.until, heldBy: lowest.heldBy };
}

/**
 * Returns the time from which the ages of files are counted at startup: the time of the newest file
 * plus at most a day.
 */
export function resolveFileAgingStart(now: number, newest: number | null): number {
  const last = newest === null ? null : { at: newest, countedTo: newest };
  return decideAging({ now, newest, last, measuredMs: null }).countFrom;
}

/**
 * Returns how far the time may advance: by the measured time, or otherwise by both clocks, up to a
 * day.
 */
function computeMaxAdvance({ now, database = now, last, measuredMs }: AgeEvidence): number {
  const passed = measuredMs ?? Math.min(now, database) - (last?.at ?? now);
  return DAYS_PER_DAY * Math.max(0, Math.min(passed, DAY_MS));
}

/**
 * Returns the time to record after a removal. The recorded time never decreases, because otherwise
 * a clock that was behind for a minute would delay removals for years; a recorded time ahead of
 * `now` counts as `now` when it is used. A retention run that removes nothing writes the first
 * record.
 */
export function resolveRecordedTime(witnesses: AgeEvidence): number {
  const { now, database = now, last } = witnesses;
  if (last === null) return Math.min(now, database);
  return Math.max(last.countedTo, decideAging(witnesses).countFrom);
}
