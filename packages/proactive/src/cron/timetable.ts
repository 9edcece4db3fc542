import type { CronFields, Timetable } from '@parley/core';
import type { CronExpression } from 'cron-parser';
import { CADENCE_FORM, parseClockMinutes, parseInterval } from '../heartbeat/task.ts';
import { createZoneClock, formatWallDayAndMinute, type ZoneClock } from '../zone-clock.ts';
import { addToWallTime, findNextOnCalendar, formatStoredWallTime } from './calendar.ts';
import { type CronPattern, readCronExpression } from './cron-expression.ts';

/** A timetable as a person or a model writes it. Exactly one of the first three fields is set. */
export type TimetableInput = Pick<CronFields, 'at' | 'every' | 'cron' | 'timeZone'>;

export interface TimetableRules {
  readonly timeZone: string;
  readonly now: number;
  /** The minimum time between two runs, in ms. */
  readonly leastMs: number;
}

export interface ParsedTimetable {
  readonly timetable: Timetable;
  readonly nextAt: number;
}

const MINUTE_MS = 60_000;
/** How many runs are checked for pairs that are too close together. */
const LOOK_AHEAD = 12;

/** Parses a written timetable. Returns an explanation with an example if it is not recognized. */
export function parseTimetableInput(
  written: TimetableInput,
  rules: TimetableRules,
): ParsedTimetable | string {
  const timeZone = written.timeZone?.trim() || rules.timeZone;
  if (!isTimeZone(timeZone)) {
    return `${JSON.stringify(timeZone)} is not a time zone. Use an IANA name, such as Europe/Vienna or America/New_York.`;
  }
  const { at, every, cron } = written;
  const given = [at, every, cron].filter((one) => one !== undefined);
  if (given.length !== 1) {
    return `Give exactly one of at (${READ_MOMENT_FORM}), every (${CADENCE_FORM}) and cron (five fields, such as 0 9 * * mon-fri).`;
  }
  const zone: TimetableZone = { timeZone, zoneOf: timeZone === rules.timeZone ? 'agent' : 'job' };
  const timetable = parseTimetable({ at, every, cron }, { ...rules, ...zone });
  return typeof timetable === 'string' ? timetable : checkTimetable(timetable, rules);
}

/** A time zone, and whether it belongs to the job or to the agent. */
interface TimetableZone {
  readonly timeZone: string;
  readonly zoneOf: 'agent' | 'job';
}

type ZonedRules = TimetableRules & TimetableZone;

const zoneIn = ({ timeZone, zoneOf }: TimetableZone): TimetableZone => ({ timeZone, zoneOf });

function parseTimetable(
  { at, every, cron }: Omit<TimetableInput, 'timeZone'>,
  rules: ZonedRules,
): Timetable | string {
  if (at !== undefined) return parseOneOffTime(at, rules);
  if (every !== undefined) return parseEveryInterval(every, rules);
  const read = readCronExpression(cron ?? '');
  if (typeof read === 'string') return read;
  const expression = (cron ?? '').trim().replace(/\s+/g, ' ');
  return { kind: 'cron', expression, ...zoneIn(rules) };
}

function parseOneOffTime(written: string, { now, ...zone }: ZonedRules): Timetable | string {
  const { timeZone } = zone;
  const moment = parseZonelessMoment(written.trim(), now);
  const at = moment ?? readLocalTime(written, timeZone, now);
  if (at === null) {
    return `${JSON.stringify(written)} is not a time. Expected ${READ_MOMENT_FORM}, in ${timeZone}.`;
  }
  if (at > now) return { kind: 'once', at, ...(moment === null && zoneIn(zone)) };
  const then = formatWallDayAndMinute(at, timeZone);
  return `${then} has passed: it is ${formatWallDayAndMinute(now, timeZone)} in ${timeZone} now. Give a future time.`;
}

/**
 * Days and months are counted on the calendar, so that a job keeps its local time when the clocks
 * change.
 */
function parseEveryInterval(written: string, { now, ...zone }: ZonedRules): Timetable | string {
  const read = parseInterval(written.replace(/^\s*every\s+|[.!\s]+$/gi, ''));
  if (read === null) {
    return `${JSON.stringify(written)} is not an interval. Expected one ${CADENCE_FORM}; for certain days or hours use cron.`;
  }
  const { unit, count, at } = read;
  if (unit === 'minutes') {
    const ms = count * MINUTE_MS;
    return { kind: 'every', ms, from: now + ms, passes: true };
  }
  const { timeZone } = zone;
  const wall = createZoneClock(timeZone).wallAt(now);
  const minutes = at ?? Math.floor((wall % DAY_MS) / MINUTE_MS);
  const time = `${minutes % 60} ${Math.floor(minutes / 60)}`;
  const named = zoneIn(zone);
  if (unit === 'days' && count === 1) {
    return { kind: 'cron', expression: `${time} * * *`, ...named };
  }
  if (unit === 'days' && count === 7) {
    return { kind: 'cron', expression: `${time} * * ${new Date(wall).getUTCDay()}`, ...named };
  }
  // Days are counted from today even if today's time has passed, so that a job created on the 31st
  // runs on the last day of each month.
  const today = Math.floor(wall / DAY_MS) * DAY_MS + minutes * MINUTE_MS;
  const isTomorrow = unit === 'days' && at !== undefined && today <= wall;
  const from = formatStoredWallTime(isTomorrow ? today + DAY_MS : today);
  return { kind: 'calendar', unit: unit === 'days' ? 'day' : 'month', count, from, ...named };
}

function checkTimetable(
  timetable: Timetable,
  { now, leastMs }: TimetableRules,
): ParsedTimetable | string {
  const times = listNextTimes(timetable, now, LOOK_AHEAD);
  const [nextAt] = times;
  if (nextAt === undefined) return 'It would never run, because there is no such day. Check it.';
  const isTooOften = times.some(
    (time, index) => index > 0 && time - (times[index - 1] ?? 0) < leastMs,
  );
  if (isTooOften) {
    return `That is too often: a job may run at most every ${Math.round(leastMs / MINUTE_MS)} minutes.`;
  }
  return { timetable, nextAt };
}

/** Returns the next few times in a timetable (ms), or fewer if there are no more. */
export function listNextTimes(
  timetable: Timetable,
  after: number,
  count: number,
): readonly number[] {
  const times: number[] = [];
  let last: number | null = after;
  while (times.length < count) {
    last = findNextTime(timetable, last);
    if (last === null) break;
    times.push(last);
  }
  return times;
}

function isTimeZone(timeZone: string): boolean {
  try {
    createZoneClock(timeZone);
    return true;
  } catch {
    return false; // Intl reports an unknown zone only by throwing.
  }
}

const DAY_MS = 24 * 60 * MINUTE_MS;

/** The maximum length of a time text, in characters. */
const MAX_WRITTEN = 500;

const READ_MOMENT_FORM =
  'a date and time such as 2026-11-22 09:00, a time such as 18:30, tomorrow 9:00, or in 20 min';

/** Parses a moment (ms) that is the same in every zone; null for any other text. */
function parseZonelessMoment(text: string, now: number): number | null {
  return text.length > MAX_WRITTEN ? null : (readDelay(text, now) ?? parseTimeWithOffset(text));
}

/**
 * Converts a local time to a moment (ms); null if it is not a time. A time without a date means its
 * next occurrence, and a skipped time means the end of the skipped hour.
 */
function readLocalTime(written: string, timeZone: string, now: number): number | null {
  const text = written.trim();
  if (text.length > MAX_WRITTEN) return null;
  return (
    parseDaysFromNow(text, timeZone, now) ??
    parseDateAndTime(text, timeZone) ??
    parseTimeOfDay(text, timeZone, now)
  );
}

function readDelay(text: string, now: number): number | null {
  const length = getTextAfterIn(text);
  const seconds = /^(\d{1,4})\s*s(?:ec(?:ond)?s?)?$/i.exec(length)?.[1];
  if (seconds !== undefined) return now + Number(seconds) * 1000;
  const interval = parseInterval(length);
  return interval?.unit === 'minutes' ? now + interval.count * MINUTE_MS : null;
}

/**
 * Parses `in 2 days` or `in a month at 9:00`, counted on the calendar and at the current time of
 * day if no time is given.
 */
function parseDaysFromNow(text: string, timeZone: string, now: number): number | null {
  const interval = parseInterval(getTextAfterIn(text));
  if (interval === null || interval.unit === 'minutes') return null;
  const clock = createZoneClock(timeZone);
  const wall = clock.wallAt(now);
  const { unit, count, at } = interval;
  const start = at === undefined ? wall : Math.floor(wall / DAY_MS) * DAY_MS + at * MINUTE_MS;
  return clock.plannedMomentOf(addToWallTime(start, unit === 'days' ? 'day' : 'month', count));
}

function getTextAfterIn(text: string): string {
  return /^in\s+(?:an?\s+)?(\S.*)$/i.exec(text)?.[1] ?? '';
}

/** Parses `2026-11-22T09:00:00Z` and other times that state their offset. */
function parseTimeWithOffset(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i.test(text))
    return null;
  return toNumberOrNull(Date.parse(text.replace(' ', 'T')));
}

function parseDateAndTime(text: string, timeZone: string): number | null {
  const found = /^(\d{4}-\d\d-\d\d)[T ]+(\d\d?:\d\d)(:\d\d)?(?:\.\d+)?$/i.exec(text);
  if (found === null) return null;
  const [, date = '', time = '', seconds = ':00'] = found;
  const iso = `${date}T${time.padStart(5, '0')}${seconds}`;
  const wall = toNumberOrNull(Date.parse(`${iso}Z`));
  // The date 30 February does not exist, although JavaScript accepts it.
  if (wall === null || !new Date(wall).toISOString().startsWith(iso)) return null;
  return createZoneClock(timeZone).plannedMomentOf(wall);
}

function parseTimeOfDay(text: string, timeZone: string, now: number): number | null {
  const [, day, time = ''] = /^(?:(today|tomorrow)\s*(?:(?:at\s|,)\s*)?)?(\S.*)$/i.exec(text) ?? [];
  const minutes = parseClockMinutes(time);
  if (minutes === null) return null;
  if (day === undefined) return findNextTimeOfDay(minutes, timeZone, now);
  return computeTimeOnDay(minutes, timeZone, now, day.toLowerCase() === 'tomorrow' ? 1 : 0);
}

/** Returns the next moment that is this many minutes after local midnight. */
function findNextTimeOfDay(minutes: number, timeZone: string, now: number): number {
  const today = computeTimeOnDay(minutes, timeZone, now, 0);
  return today > now ? today : computeTimeOnDay(minutes, timeZone, now, 1);
}

function computeTimeOnDay(minutes: number, timeZone: string, now: number, days: number): number {
  const clock = createZoneClock(timeZone);
  const midnight = (Math.floor(clock.wallAt(now) / DAY_MS) + days) * DAY_MS;
  return clock.plannedMomentOf(midnight + minutes * MINUTE_MS);
}

function toNumberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

const HOUR_MS = 60 * 60_000;
/** A time span (ms) by which clocks are never set back. */
const BACK_MS = 3 * HOUR_MS;

/**
 * Returns a job's next time after a given moment (ms); null if there is none or its expression is
 * invalid. A run at a skipped time takes place at the end of the skipped hour; a run on a skipped
 * date, on the next day. In a repeated hour, a job scheduled for certain hours runs only the first
 * time, and a job scheduled for every hour runs both times.
 * @throws Throws RangeError for an unknown time zone.
 */
export function findNextTime(timetable: Timetable, after: number): number | null {
  switch (timetable.kind) {
    case 'once':
      return timetable.at > after ? timetable.at : null;
    case 'every': {
      const { from, ms } = timetable;
      return from > after ? from : from + (Math.floor((after - from) / ms) + 1) * ms;
    }
    case 'calendar':
      return findNextOnCalendar(timetable, after);
    case 'cron': {
      const cron = readCronExpression(timetable.expression);
      if (typeof cron === 'string') return null;
      return findNextRun(cron, createZoneClock(timetable.timeZone), after);
    }
  }
}

function findNextRun(cron: CronPattern, clock: ZoneClock, after: number): number | null {
  const wall = clock.wallAt(after);
  // A run scheduled for a date that the zone has just skipped may still be pending.
  const isDaySkipped = wall - clock.wallAt(after - DAY_MS) > DAY_MS + BACK_MS;
  const walls = cron.after(wall - (isDaySkipped ? 2 * DAY_MS : BACK_MS));
  const everyHour = cron.hours === 24;
  let best: number | null = null;
  for (let next = findNextWallTime(walls); next !== null; next = findNextWallTime(walls)) {
    const moments = clock.momentsOf(next);
    const first = moments[0] ?? clock.plannedMomentOf(next);
    if (best !== null && first >= best) return best;
    // A job scheduled for every hour runs again soon, so its skipped runs are not made up for.
    const wanted = everyHour ? moments : [first];
    const due = wanted.find((moment) => moment > after);
    if (due !== undefined) best = Math.min(best ?? due, due);
  }
  return best;
}

/**
 * Returns the next local time that matches the expression, or null if there is none, for example
 * for 31 April.
 */
function findNextWallTime(walls: CronExpression): number | null {
  try {
    return walls.next().getTime();
  } catch {
    return null; // After a long search, the library throws to report "never".
  }
}

/** Whether a timetable runs in every hour rather than at certain hours. */
export function isEveryHour(timetable: Timetable): boolean {
  if (timetable.kind !== 'cron') return false;
  const read = readCronExpression(timetable.expression);
  return typeof read !== 'string' && read.hours === 24;
}
