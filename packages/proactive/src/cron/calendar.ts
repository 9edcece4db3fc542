import type { Timetable } from '@parley/core';
import { createZoneClock } from '../zone-clock.ts';

export type CalendarTimetable = Extract<Timetable, { kind: 'calendar' }>;

const DAY_MS = 24 * 60 * 60_000;

/**
 * A local time (ms as if UTC) in the form stored in a timetable, to the minute: `2026-11-22T09:00`.
 */
export function formatStoredWallTime(wall: number): string {
  return new Date(wall).toISOString().slice(0, 16);
}

/**
 * Adds days or months to a local time (ms as if UTC). In a shorter month, the 31st becomes the last
 * day of the month.
 */
export function addToWallTime(
  wall: number,
  unit: CalendarTimetable['unit'],
  count: number,
): number {
  if (unit === 'day') return wall + count * DAY_MS;
  const date = new Date(wall);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + count];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const midnight = Date.UTC(year, month, Math.min(date.getUTCDate(), lastDay));
  return midnight + (wall - Math.floor(wall / DAY_MS) * DAY_MS);
}

/**
 * The first time after the given one (ms) in a timetable that counts days or months. All times are
 * counted from the first one, so that clock changes and short months do not shift later times.
 * @throws Throws RangeError for an unknown zone.
 */
export function findNextOnCalendar(timetable: CalendarTimetable, after: number): number {
  const clock = createZoneClock(timetable.timeZone);
  const first = Date.parse(`${timetable.from}Z`);
  for (let index = estimateIndexBefore(timetable, clock.wallAt(after) - first); ; index += 1) {
    const wall = addToWallTime(first, timetable.unit, index * timetable.count);
    const moment = clock.plannedMomentOf(wall);
    if (moment > after) return moment;
  }
}

const MAX_DAYS = { day: 1, month: 31 } as const;
/** A number of days by which a clock is never wrong. */
const SPARE_DAYS = 2;

/** Returns an index whose time is close to the wanted time, but not later. */
function estimateIndexBefore({ unit, count }: CalendarTimetable, passedMs: number): number {
  const days = Math.floor(passedMs / DAY_MS) - SPARE_DAYS;
  return Math.max(0, Math.floor(days / (MAX_DAYS[unit] * count)));
}

/**
 * Returns the same timetable, counted from a time in the past. A start time that was stored while
 * the clock was ahead would otherwise delay all runs until then.
 */
export function shiftStartBefore(timetable: CalendarTimetable, now: number): CalendarTimetable {
  const { unit, count, from, timeZone } = timetable;
  const first = Date.parse(`${from}Z`);
  const ahead = first - createZoneClock(timeZone).wallAt(now);
  if (ahead <= 0) return timetable;
  const intervals = Math.ceil(ahead / (DAY_MS * count * MIN_DAYS[unit]));
  return {
    ...timetable,
    from: formatStoredWallTime(addToWallTime(first, unit, -intervals * count)),
  };
}

const MIN_DAYS = { day: 1, month: 28 } as const;

export type ZonedTimetable = Exclude<Timetable, { kind: 'every' }>;

/** Moves a timetable to another zone and keeps its local times. */
export function moveToZone<T extends ZonedTimetable>(timetable: T, timeZone: string): T {
  if (timetable.kind !== 'once' || timetable.timeZone === undefined) {
    return { ...timetable, timeZone };
  }
  const at = moveMoment(timetable.at, timetable.timeZone, timeZone);
  return { ...timetable, at, timeZone };
}

/**
 * Returns the moment at which the clock in another zone shows the time that the clock in the first
 * zone shows now.
 */
function moveMoment(moment: number, from: string, to: string): number {
  return createZoneClock(to).plannedMomentOf(createZoneClock(from).wallAt(moment));
}
