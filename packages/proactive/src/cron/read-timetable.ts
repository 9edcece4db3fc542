import type { Timetable } from '@parley/contracts';
import { wallDayAndMinute } from '../clock/wall-words.ts';
import { zoneClock } from '../clock/zone-clock.ts';
import { CADENCE_FORM, readCadence } from '../heartbeat/read-times.ts';
import { readCronExpression } from './cron-expression.ts';
import { nextTime } from './next-time.ts';
import { READ_MOMENT_FORM, readMoment } from './read-moment.ts';

/** When a job is to run, as a person or a model writes it: exactly one of the first three. */
export interface WrittenTimetable {
  /** A date and time on the wall, or `in 20 min`. */
  readonly at?: string | undefined;
  readonly every?: string | undefined;
  /** An expression of five fields. */
  readonly cron?: string | undefined;
  /** IANA name; that of the agent when absent. */
  readonly timeZone?: string | undefined;
}

/** What it is read with. Times in ms. */
export interface TimetableRules {
  readonly timeZone: string;
  readonly now: number;
  /** The shortest time between two runs. */
  readonly leastMs: number;
}

/** A timetable and its first time, or why it is none. */
export type ReadTimetable =
  | { readonly kind: 'timetable'; readonly timetable: Timetable; readonly nextAt: number }
  | { readonly kind: 'problem'; readonly message: string };

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** So many runs are looked at for two that are too close. */
const LOOK_AHEAD = 12;

/** Reads when a job is to run. Never throws: what is not understood is told with an example. */
export function readTimetable(written: WrittenTimetable, rules: TimetableRules): ReadTimetable {
  const timeZone = written.timeZone?.trim() || rules.timeZone;
  if (!isTimeZone(timeZone)) {
    return problem(
      `${JSON.stringify(timeZone)} is no time zone. Give its IANA name, such as Europe/Vienna or America/New_York.`,
    );
  }
  const { at, every, cron } = written;
  const given = [at, every, cron].filter((one) => one !== undefined);
  if (given.length !== 1) {
    return problem(
      `Give exactly one of at (${READ_MOMENT_FORM}), every (${CADENCE_FORM}) and cron (five fields, such as 0 9 * * mon-fri).`,
    );
  }
  const timetable = timetableOf({ at, every, cron }, { ...rules, timeZone });
  return typeof timetable === 'string' ? problem(timetable) : checked(timetable, rules);
}

function timetableOf(
  { at, every, cron }: Omit<WrittenTimetable, 'timeZone'>,
  rules: TimetableRules,
): Timetable | string {
  if (at !== undefined) return onceAt(at, rules);
  if (every !== undefined) return everySoOften(every, rules);
  const read = readCronExpression(cron ?? '');
  if (read.kind === 'problem') return read.message;
  return {
    kind: 'cron',
    expression: (cron ?? '').trim().replace(/\s+/g, ' '),
    timeZone: rules.timeZone,
  };
}

function onceAt(written: string, { timeZone, now }: TimetableRules): Timetable | string {
  const at = readMoment(written, timeZone, now);
  if (at === null) {
    return `${JSON.stringify(written)} is no time. Expected ${READ_MOMENT_FORM}, on the clock of ${timeZone}.`;
  }
  if (at > now) return { kind: 'once', at };
  const then = wallDayAndMinute(at, timeZone);
  return `${then} is over: it is ${wallDayAndMinute(now, timeZone)} in ${timeZone} now. Give a time to come.`;
}

/** Days are counted on the wall, so that a daily job stays at its hour when the clocks change. */
function everySoOften(written: string, { timeZone, now }: TimetableRules): Timetable | string {
  const read = readCadence(written.replace(/^\s*every\s+/i, ''));
  if (read === null) {
    return `${JSON.stringify(written)} is no interval. Expected ${CADENCE_FORM}; for certain days or hours use cron.`;
  }
  const { cadence, at } = read;
  if (cadence.kind === 'minutes') {
    const ms = cadence.minutes * MINUTE_MS;
    return { kind: 'every', ms, from: now + ms };
  }
  const clock = zoneClock(timeZone);
  const wall = new Date(clock.wallAt(now));
  const minutes = at ?? wall.getUTCHours() * 60 + wall.getUTCMinutes();
  const time = `${minutes % 60} ${Math.floor(minutes / 60)}`;
  if (cadence.days === 1) return { kind: 'cron', expression: `${time} * * *`, timeZone };
  if (cadence.days === 7) {
    return { kind: 'cron', expression: `${time} * * ${wall.getUTCDay()}`, timeZone };
  }
  const ms = cadence.days * DAY_MINUTES * MINUTE_MS;
  if (at === undefined) return { kind: 'every', ms, from: now + ms };
  const midnight = Math.floor(clock.wallAt(now) / (DAY_MINUTES * MINUTE_MS)) * DAY_MINUTES;
  const today = clock.firstMomentOf((midnight + minutes) * MINUTE_MS);
  const tomorrow = clock.firstMomentOf((midnight + DAY_MINUTES + minutes) * MINUTE_MS);
  return { kind: 'every', ms, from: today > now ? today : tomorrow };
}

function checked(timetable: Timetable, { now, leastMs }: TimetableRules): ReadTimetable {
  const times = nextTimes(timetable, now, LOOK_AHEAD);
  const [nextAt] = times;
  if (nextAt === undefined) return problem('It would never run: there is no such day. Check it.');
  const isTooOften = times.some(
    (time, index) => index > 0 && time - (times[index - 1] ?? 0) < leastMs,
  );
  if (isTooOften) {
    return problem(
      `That is too often: a job may run every ${Math.round(leastMs / MINUTE_MS)} minutes at most.`,
    );
  }
  return { kind: 'timetable', timetable, nextAt };
}

/** The next few times of a timetable (ms); fewer where there are no more. */
export function nextTimes(timetable: Timetable, after: number, count: number): readonly number[] {
  const times: number[] = [];
  let last: number | null = after;
  while (times.length < count) {
    last = nextTime(timetable, last);
    if (last === null) break;
    times.push(last);
  }
  return times;
}

function isTimeZone(timeZone: string): boolean {
  try {
    zoneClock(timeZone);
    return true;
  } catch {
    return false; // Intl says "unknown zone" by throwing, and has no other way to ask.
  }
}

function problem(message: string): ReadTimetable {
  return { kind: 'problem', message };
}
