const DAY_MS = 24 * 60 * 60_000;

/**
 * Local time in one time zone. A *wall time* is the time that a local clock shows, in ms as if it
 * were UTC, so that days are 24 h long and can be counted. A *moment* is an absolute time, in ms
 * since 1970.
 */
export interface ZoneClock {
  /** Returns the wall time at a moment, to the second. */
  wallAt(moment: number): number;
  /**
   * Returns the moments with this wall time, in ascending order: one moment, two in a repeated
   * hour, or none in a skipped hour.
   */
  momentsOf(wall: number): readonly number[];
  /**
   * Returns the first moment with this wall time or, if it is skipped, the end of the skipped hour.
   */
  firstMomentOf(wall: number): number;
  /**
   * Returns the single moment at which something scheduled at this wall time happens. If the wall
   * time occurs twice, this is the first moment. If a clock change skips it, this is the moment of
   * the change. If the zone skips the whole date (Apia had no 30 December 2011), this is the same
   * time on the next day, which coincides with the next run of a daily schedule.
   */
  plannedMomentOf(wall: number): number;
}

/**
 * Creates the clock for an IANA time zone, using only the zone data in Node.js. Creating a
 * formatter costs a hundred times as much as using it, so callers keep the result.
 * @throws Throws RangeError for an unknown zone.
 */
export function createZoneClock(timeZone: string): ZoneClock {
  // The Swedish locale uses the date format of ISO 8601.
  const face = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  const wallAt = (moment: number) => {
    const second = Math.floor(moment / 1000) * 1000;
    return Date.parse(`${face.format(second).replace(' ', 'T')}Z`) + (moment - second);
  };
  const offsetAt = (moment: number) => wallAt(moment) - moment;
  const momentsOf = (wall: number) => {
    // Clocks change by less than a day, so one of these offsets must be right.
    const offsets = [offsetAt(wall - DAY_MS), offsetAt(wall + DAY_MS)];
    const found = new Set(offsets.map((offset) => wall - offset));
    return [...found].filter((moment) => wallAt(moment) === wall).sort((a, b) => a - b);
  };
  const firstMomentOf = (wall: number) => momentsOf(wall)[0] ?? findEndOfGap(wallAt, wall);
  const plannedMomentOf = (wall: number) => {
    const [moment] = momentsOf(wall);
    if (moment !== undefined) return moment;
    const end = findEndOfGap(wallAt, wall);
    const day = Math.floor(wall / DAY_MS);
    const isDaySkipped =
      Math.floor(wallAt(end - 1) / DAY_MS) < day && Math.floor(wallAt(end) / DAY_MS) > day;
    return isDaySkipped ? firstMomentOf(wall + DAY_MS) : end;
  };
  return { wallAt, momentsOf, firstMomentOf, plannedMomentOf };
}

/** Returns the moment at which a clock that skips this wall time jumps forward. */
function findEndOfGap(wallAt: ZoneClock['wallAt'], wall: number): number {
  // Before the gap, the clock shows less than `wall`, and from the end of the gap on, it shows
  // more.
  let before = wall - DAY_MS * 2;
  let after = wall + DAY_MS * 2;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (wallAt(middle) < wall) before = middle;
    else after = middle;
  }
  return after;
}

/** Formats local time such as `2026-11-21 14:05`. Throws RangeError for an unknown zone. */
export function formatWallMinute(moment: number, timeZone: string): string {
  const wall = new Date(createZoneClock(timeZone).wallAt(moment));
  return wall.toISOString().slice(0, 16).replace('T', ' ');
}

/**
 * Formats local time with the weekday, which models often get wrong: `Saturday 2026-11-21 14:05`.
 */
export function formatWallDayAndMinute(moment: number, timeZone: string): string {
  const day = new Date(moment).toLocaleDateString('en-US', { timeZone, weekday: 'long' });
  return `${day} ${formatWallMinute(moment, timeZone)}`;
}

/** Returns the moment at which the local day started. */
export function findZoneDayStart(moment: number, timeZone: string): number {
  const clock = createZoneClock(timeZone);
  return clock.firstMomentOf(Math.floor(clock.wallAt(moment) / DAY_MS) * DAY_MS);
}

const MINUTE_MS = 60_000;
export const DAY_MINUTES = 24 * 60;

/**
 * A range of hours of the day, in minutes since local midnight. `from` is inclusive, `to` is
 * exclusive. If `to` is before `from`, the range ends after midnight. `to` may be 1440.
 */
export interface DayWindow {
  readonly from: number;
  readonly to: number;
  /** The days to which these hours apply; every day when absent. */
  readonly on?: DayRule;
}

/** Days of the week (0 is Sunday) or of the month (from 1). */
export interface DayRule {
  readonly of: 'week' | 'month';
  readonly days: readonly number[];
}

export const WHOLE_DAY: DayWindow = { from: 0, to: DAY_MINUTES };

/** The hours of one day, as moments (ms); `end` is not included. */
export interface WindowOfDay {
  /** The local day on which the hours start, in days since 1970. */
  readonly day: number;
  readonly start: number;
  readonly end: number;
}

/** Returns the hours that contain this moment, or null. */
export function findWindowAt(
  clock: ZoneClock,
  window: DayWindow,
  moment: number,
): WindowOfDay | null {
  const today = getDayAt(clock, moment);
  // Later days come first, because hours postponed by a clock change may overlap the hours of the
  // next day.
  for (const day of [today + 1, today, today - 1]) {
    if (findMatchingDay(window, day) !== day) continue;
    const hours = computeWindowOnDay(clock, window, day);
    if (hours.start <= moment && moment < hours.end) return hours;
  }
  return null;
}

/** Returns the first range of hours that starts after this moment. */
export function findWindowAfter(clock: ZoneClock, window: DayWindow, moment: number): WindowOfDay {
  let day = findMatchingDay(window, getDayAt(clock, moment) - 1);
  let hours = computeWindowOnDay(clock, window, day);
  while (hours.start <= moment) {
    day = findMatchingDay(window, day + 1);
    hours = computeWindowOnDay(clock, window, day);
  }
  return hours;
}

/** The next 29 February is at most eight years away. */
const MAX_DAYS = 366 * 8 + 1;

/** Returns the first day on or after this one that has these hours. */
export function findMatchingDay({ on }: DayWindow, day: number): number {
  if (on === undefined) return day;
  for (let next = day; next < day + MAX_DAYS; next += 1) {
    const date = new Date(next * DAY_MS);
    if (on.days.includes(on.of === 'week' ? date.getUTCDay() : date.getUTCDate())) return next;
  }
  return day;
}

/**
 * Returns the hours on a given day. Every day has the hours once. If the clock skips their start,
 * they start at the end of the skipped hour and keep their length. In a repeated hour, the first
 * start is used. If the zone skips the date, the hours of the next day are returned.
 */
export function computeWindowOnDay(
  clock: ZoneClock,
  { from, to }: DayWindow,
  day: number,
): WindowOfDay {
  const opens = day * DAY_MS + from * MINUTE_MS;
  const closes = day * DAY_MS + (to > from ? to : to + DAY_MINUTES) * MINUTE_MS;
  const start = clock.plannedMomentOf(opens);
  if (clock.momentsOf(opens).length === 0) return { day, start, end: start + (closes - opens) };
  return { day, start, end: clock.firstMomentOf(closes) };
}

function getDayAt(clock: ZoneClock, moment: number): number {
  return Math.floor(clock.wallAt(moment) / DAY_MS);
}

/** A clock that is off by more than this is considered wrong, in ms. */
export const WRONG_CLOCK_MS = 5 * 60_000;
