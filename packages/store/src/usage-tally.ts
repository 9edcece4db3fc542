const SUMMED = [
  'turns',
  'failed',
  'inputTokens',
  'cachedTokens',
  'outputTokens',
  'costUsd',
  'unpriced',
] as const;

type UsageSumsByColumn = Readonly<Record<(typeof SUMMED)[number], number>>;

/**
 * The usage of turns, including `failed` ones. `cachedTokens` is the number of `inputTokens` that
 * came from providers' caches. `costUsd` is the cost in US dollars where prices are known;
 * `unpriced` counts turns whose model does not have a known price.
 */
export interface UsageFigures extends UsageSumsByColumn {
  /** Null if none of these turns answered a person's message. */
  readonly latency: UsageLatency | null;
}

/**
 * How long people waited, in ms, rounded to two digits: from the acceptance of a turn's first
 * message to the commit of the answer, excluding delivery and the time spent waiting for a person's
 * approval or answer.
 */
interface UsageLatency {
  readonly p50: number;
  readonly p95: number;
}

/** Sums over all turns with the same latency (in ms). */
export interface SumsWithLatency extends UsageSumsByColumn {
  /** The latency in ms; -1 if these turns did not answer people. */
  readonly latency: number;
  /** The greatest id among these turns, which belongs to the newest one. */
  readonly newest: string;
}

/** Running totals while turns are being read. */
export interface UsageTally {
  readonly sums: Record<(typeof SUMMED)[number], number>;
  /** The number of answers, by latency in ms. */
  readonly latencies: Map<number, number>;
  newest: string;
}

export function createTally(): UsageTally {
  const sums = { turns: 0, failed: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0 };
  return { sums: { ...sums, costUsd: 0, unpriced: 0 }, latencies: new Map(), newest: '' };
}

export function addToTally(tally: UsageTally, more: SumsWithLatency): void {
  const { latency, turns, newest } = more;
  const latencies = new Map(latency < 0 ? [] : [[latency, turns]]);
  mergeIntoTally(tally, { sums: more, latencies, newest });
}

export function mergeIntoTally(
  tally: UsageTally,
  more: { readonly sums: UsageSumsByColumn } & Readonly<Pick<UsageTally, 'latencies' | 'newest'>>,
): void {
  for (const name of SUMMED) tally.sums[name] += more.sums[name];
  if (more.newest > tally.newest) tally.newest = more.newest;
  for (const [ms, times] of more.latencies) {
    tally.latencies.set(ms, (tally.latencies.get(ms) ?? 0) + times);
  }
}

export function toFigures({ sums, latencies }: UsageTally): UsageFigures {
  return { ...sums, latency: computeLatency(latencies) };
}

/** Sorts by usage, largest first: by cost, then tokens, then turns. */
export function compareByUsage({ sums: one }: UsageTally, { sums: other }: UsageTally): number {
  const tokens = other.inputTokens + other.outputTokens - one.inputTokens - one.outputTokens;
  return other.costUsd - one.costUsd || tokens || other.turns - one.turns;
}

/**
 * Computes percentiles: the shortest time within which the given share of answers was committed.
 */
function computeLatency(latencies: UsageTally['latencies']): UsageLatency | null {
  const sorted = [...latencies].sort(([one], [other]) => one - other);
  const answers = sorted.reduce((sum, [, times]) => sum + times, 0);
  if (answers === 0) return null;
  const within = (share: number): number => {
    let count = 0;
    for (const [ms, times] of sorted) {
      count += times;
      if (count >= share * answers) return ms;
    }
    return 0;
  };
  return { p50: within(0.5), p95: within(0.95) };
}

/** A calendar day, from midnight to midnight local time, in ms. */
export interface CalendarDay {
  /** The date, for example `2026-11-21`. */
  readonly day: string;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

const DAY_MS = 24 * 60 * 60_000;

/** A number of consecutive calendar days, ending with `lastDay`. */
export interface DayRange {
  readonly lastDay: string;
  readonly days: number;
  /** IANA name, for example `Europe/Berlin`. */
  readonly timeZone: string;
}

/**
 * Lists the days in a range, oldest first, in local time; some have 23 or 25 hours. Throws
 * RangeError for an invalid day or time zone.
 */
export function listCalendarDays({ lastDay, days, timeZone }: DayRange): readonly CalendarDay[] {
  const clock = createLocalClock(timeZone);
  const last = Date.parse(`${lastDay}T00:00:00Z`);
  const starts = Array.from({ length: days + 1 }, (_, at) => {
    const utc = last - (days - 1 - at) * DAY_MS;
    return { day: new Date(utc).toISOString().slice(0, 10), from: findLocalDayStart(utc, clock) };
  });
  return starts.slice(0, -1).map((start, at) => ({ ...start, to: starts[at + 1]?.from ?? 0 }));
}

/**
 * Finds the start of a local day, given its midnight in UTC. Clocks may change at midnight, so the
 * offsets of the day before and the day after are both tried; if midnight is skipped, only one
 * offset is right.
 */
function findLocalDayStart(utc: number, clock: LocalClock): number {
  const [first = utc, second = utc] = [utc - DAY_MS, utc + DAY_MS]
    .map((near) => utc - (clock(near) - near))
    .sort((one, other) => one - other);
  return clock(first) >= utc ? first : second;
}

/** Returns the local wall time at a given moment (ms), as if it were UTC, in whole seconds. */
type LocalClock = (at: number) => number;

/**
 * The formatter is created once for many lookups, because creating it costs a hundred times as much
 * as using it.
 */
function createLocalClock(timeZone: string): LocalClock {
  // Swedish dates are in ISO 8601 format.
  const face = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return (at) => Date.parse(`${face.format(at).replace(' ', 'T')}Z`);
}
