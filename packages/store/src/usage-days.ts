/** A day of a calendar: from midnight to midnight there, in ms. */
export interface CalendarDay {
  /** Such as `2026-11-21`. */
  readonly day: string;
  readonly from: number;
  /** Not included. */
  readonly to: number;
}

const DAY_MS = 24 * 60 * 60_000;

/** Which days: so many, the last one included. */
export interface DayRange {
  readonly lastDay: string;
  readonly days: number;
  /** IANA name, for example `Europe/Berlin`. */
  readonly timeZone: string;
}

/**
 * The days of a range, oldest first, as the clocks of that place show them: some have 23 or 25 hours. Throws
 * RangeError for a day or a time zone that does not exist.
 */
export function calendarDays({ lastDay, days, timeZone }: DayRange): readonly CalendarDay[] {
  const clock = clockIn(timeZone);
  const last = Date.parse(`${lastDay}T00:00:00Z`);
  const starts = Array.from({ length: days + 1 }, (_, at) => {
    const utc = last - (days - 1 - at) * DAY_MS;
    return { day: new Date(utc).toISOString().slice(0, 10), from: startOfDay(utc, clock) };
  });
  return starts.slice(0, -1).map((start, at) => ({ ...start, to: starts[at + 1]?.from ?? 0 }));
}

/**
 * The first moment of the day whose midnight in UTC is given. Clocks may change at midnight, so the offsets of the
 * day before and of the day after are both tried; where they leave midnight out, only one is right.
 */
function startOfDay(utc: number, clock: LocalClock): number {
  const [first = utc, second = utc] = [utc - DAY_MS, utc + DAY_MS]
    .map((near) => utc - (clock(near) - near))
    .sort((one, other) => one - other);
  return clock(first) >= utc ? first : second;
}

/** What the clocks of a place show at a moment (ms), as if it was UTC; in whole seconds. */
type LocalClock = (at: number) => number;

/** Made once for many moments: making a formatter costs a hundred times using it. */
function clockIn(timeZone: string): LocalClock {
  // Swedish dates are written as ISO 8601 writes them.
  const face = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return (at) => Date.parse(`${face.format(at).replace(' ', 'T')}Z`);
}
