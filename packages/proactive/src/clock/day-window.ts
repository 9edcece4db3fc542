import type { ZoneClock } from './zone-clock.ts';

const MINUTE_MS = 60_000;
/** Minutes of a day on the wall. */
export const DAY_MINUTES = 24 * 60;
const DAY_MS = DAY_MINUTES * MINUTE_MS;

/**
 * Hours of the day, in minutes since midnight on the wall: `from` is in them, `to` is not. With `to`
 * before `from` they go on past midnight. `to` may be 1440.
 */
export interface DayWindow {
  readonly from: number;
  readonly to: number;
}

/** All day long. */
export const WHOLE_DAY: DayWindow = { from: 0, to: DAY_MINUTES };

/** The hours of one day, as moments (ms); `end` is not in them. */
export interface WindowOfDay {
  /** The day it begins on: days since 1970 on the wall. Each day has one. */
  readonly day: number;
  readonly start: number;
  readonly end: number;
}

/** The hours that hold this moment, or null. */
export function windowAt(clock: ZoneClock, window: DayWindow, moment: number): WindowOfDay | null {
  const today = dayAt(clock, moment);
  // The latest that holds it: put off by a skipped hour, two may touch.
  for (const day of [today + 1, today, today - 1]) {
    const hours = windowOn(clock, window, day);
    if (hours.start <= moment && moment < hours.end) return hours;
  }
  return null;
}

/** The first hours that begin after this moment. */
export function windowAfter(clock: ZoneClock, window: DayWindow, moment: number): WindowOfDay {
  let day = dayAt(clock, moment) - 1;
  let hours = windowOn(clock, window, day);
  while (hours.start <= moment) {
    day += 1;
    hours = windowOn(clock, window, day);
  }
  return hours;
}

/**
 * The hours of a day. Every day has them once: where the clock skips their beginning they begin when
 * it goes on and are as long as ever, and in a doubled hour the first one counts.
 */
export function windowOn(clock: ZoneClock, { from, to }: DayWindow, day: number): WindowOfDay {
  const opens = day * DAY_MS + from * MINUTE_MS;
  const closes = day * DAY_MS + (to > from ? to : to + DAY_MINUTES) * MINUTE_MS;
  const start = clock.firstMomentOf(opens);
  if (clock.momentsOf(opens).length === 0) return { day, start, end: start + (closes - opens) };
  return { day, start, end: clock.firstMomentOf(closes) };
}

function dayAt(clock: ZoneClock, moment: number): number {
  return Math.floor(clock.wallAt(moment) / DAY_MS);
}
