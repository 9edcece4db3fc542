import type { HeartbeatRoutine, NewsCheck } from '@parley/core';
import type { FilePattern } from '@parley/workspace';
import { DAY_MINUTES, type DayRule, type DayWindow, WHOLE_DAY } from '../zone-clock.ts';

/** The file with the standing tasks, and the file that records their last runs (H02). */
export const TASKS_FILE = 'HEARTBEAT.md';
export const STATE_FILE = 'heartbeat-state.json';
/** The state file used by OpenClaw's agents, read until Parley has written its own. */
export const OPENCLAW_STATE_FILE = 'memory/heartbeat-state.json';

/** The file in which owners describe themselves, including the language in which they write. */
export const PROFILE_FILE = 'USER.md';

/**
 * The workspace files used by a heartbeat. Each of these files becomes prompt text in heartbeat
 * runs.
 */
export const HEARTBEAT_READS: readonly FilePattern[] = [TASKS_FILE, STATE_FILE, PROFILE_FILE];

/**
 * A task's cadence: a number of minutes after its last run, or once on every n-th day within its
 * hours.
 */
export type Cadence =
  | { readonly kind: 'minutes'; readonly minutes: number }
  | { readonly kind: 'days'; readonly days: number };

/** The default cadence of a task. */
export const DEFAULT_CADENCE: Cadence = { kind: 'minutes', minutes: 30 };

/** The minimum number of minutes between two runs of a task (H01). */
export const FLOOR_MINUTES = 5;

export interface StandingTask {
  /** The name of the task, which is unique in the file and its key in heartbeat-state.json. */
  readonly name: string;
  readonly line: number;
  readonly cadence: Cadence;
  /** The hours of the day in which the task may run. */
  readonly window: DayWindow;
  readonly instruction: string;
  /**
   * A built-in routine that runs instead of the instruction, which then only names the routine
   * (H07).
   */
  readonly routine?: HeartbeatRoutine;
  /** The group that receives the task's alerts; if it is absent, the owner receives them (H04). */
  readonly tell?: string;
  readonly check?: NewsCheck;
}

/** The cadence in minutes, as heartbeat-state.json stores it. */
export function getCadenceMinutes(cadence: Cadence): number {
  return cadence.kind === 'minutes' ? cadence.minutes : cadence.days * 24 * 60;
}

/** A problem in HEARTBEAT.md. Other tasks run nevertheless. */
export interface TaskProblem {
  /** The line number, from 1. */
  readonly line: number;
  /** The task with the problem; absent outside tasks. */
  readonly task?: string;
  readonly found: string;
  readonly expected: string;
  /** The value that was probably intended. */
  readonly nearest?: string;
  /** `task`: the task does not run. `note`: the task runs, but perhaps not as intended. */
  readonly effect: 'task' | 'note';
}

/** Describes a problem for people: where it is, what was found, and what is expected. */
export function describeTaskProblem(problem: TaskProblem): string {
  const { line, task, found, expected, nearest, effect } = problem;
  const place = `HEARTBEAT.md, line ${line}${task === undefined ? '' : `, task ${task}`}`;
  const meant = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  const then = effect === 'task' ? ' This task does not run until it is fixed.' : '';
  return `${place}: found ${found === '' ? 'nothing' : `"${found}"`}, expected ${expected}.${meant}${then}`;
}

const MAX_NAME_LENGTH = 80;

export function shortenName(text: string): string {
  const letters = [...text.trim()];
  return letters.length <= MAX_NAME_LENGTH
    ? letters.join('')
    : `${letters.slice(0, MAX_NAME_LENGTH - 1).join('')}…`;
}

/**
 * The value of `every:`: the cadence and, for `daily at 3:00`, the time of day at which the hours
 * start (minutes).
 */
export interface ParsedCadence {
  readonly cadence: Cadence;
  readonly at?: number;
}

/** `at` is the time of day, in minutes. */
export interface ParsedInterval {
  /**
   * `minutes` are elapsed time; `days` and `months` are counted on a zone's calendar, regardless of
   * clock changes.
   */
  readonly unit: 'minutes' | 'days' | 'months';
  readonly count: number;
  readonly at?: number;
}

interface IntervalUnit {
  readonly name: RegExp;
  readonly unit: ParsedInterval['unit'];
  readonly count: number;
}

const UNITS: readonly IntervalUnit[] = [
  { name: /^m(?:ins?|inutes?)?$/, unit: 'minutes', count: 1 },
  { name: /^h(?:rs?|ours?)?$/, unit: 'minutes', count: 60 },
  { name: /^d(?:ays?)?$/, unit: 'days', count: 1 },
  { name: /^w(?:eeks?)?$/, unit: 'days', count: 7 },
  { name: /^months?$/, unit: 'months', count: 1 },
  { name: /^y(?:ears?)?$/, unit: 'months', count: 12 },
];
const WORDS: Readonly<Record<string, string>> = {
  hourly: '1 hour',
  daily: '1 day',
  weekly: '1 week',
  monthly: '1 month',
  yearly: '1 year',
};
export const CADENCE_FORM = 'such as 30 min, 2 h, 1 day or daily at 3:00';
export const WINDOW_FORM = 'a range on the 24-hour clock, such as 9:00-21:00 or 22:00-2:00';
/** The maximum length of a time text, in characters. */
const MAX_WRITTEN = 500;
/**
 * The maximum interval: a year, or ten years for intervals in months; anything longer is a mistake.
 */
const MAX_MINUTES = DAY_MINUTES * 366;
const MAX_MONTHS = 120;

/**
 * Parses `30 min`, `1 h 30 min`, `day` or `daily at 3:00`; null for anything else. Tasks are
 * checked only during heartbeats, so 24 elapsed hours would drift from day to day. Here, they mean
 * a day.
 */
export function parseCadence(written: string): ParsedCadence | null {
  const read = parseInterval(written);
  if (read === null || read.unit === 'months') return null;
  const minutes = read.unit === 'days' ? read.count * DAY_MINUTES : read.count;
  if (minutes % DAY_MINUTES !== 0) return { cadence: { kind: 'minutes', minutes } };
  const cadence: Cadence = { kind: 'days', days: minutes / DAY_MINUTES };
  return read.at === undefined ? { cadence } : { cadence, at: read.at };
}

/**
 * Parses an interval; null for anything else. Whole days, weeks and months are counted on the
 * calendar, while `24 hours` and `1 day 12 h` are elapsed time. If there is a time of day, as in
 * `24 hours at 9:00`, calendar days are meant.
 */
export function parseInterval(written: string): ParsedInterval | null {
  const text = written.trim().toLowerCase();
  if (text.length > MAX_WRITTEN) return null;
  const [, length = '', time] = /^(.*?)(?:\s+at\s+(\S+(?:\s*[ap]m)?))?$/.exec(text) ?? [];
  const plain = length.trim().replace(/^(?:other|second)\s+/, '2 ');
  const interval = parseDuration(WORDS[plain] ?? plain);
  if (interval === null || time === undefined) return interval;
  const at = parseClockMinutes(time);
  if (at === null || at === DAY_MINUTES) return null;
  if (interval.unit !== 'minutes') return { ...interval, at };
  if (interval.count % DAY_MINUTES !== 0) return null;
  return { unit: 'days', count: interval.count / DAY_MINUTES, at };
}

function parseDuration(written: string): ParsedInterval | null {
  const text = written.replace(/\s+and\s+/g, ' ');
  const pieces = text.match(/(?:\d+(?:\.\d+)?)?\s*[a-z]+\.?\s*/g) ?? [];
  if (pieces.length === 0 || pieces.join('').length !== text.length) return null;
  const sums = { minutes: 0, days: 0, months: 0 };
  for (const piece of pieces) {
    const [, count = '', name = ''] = /^([\d.]*)\s*([a-z]+)/.exec(piece) ?? [];
    const found = UNITS.find((unit) => unit.name.test(name));
    // A unit alone means one, as in "every day", but a single letter would be a mistake.
    if (found === undefined || (count === '' && (pieces.length > 1 || name.length === 1)))
      return null;
    sums[found.unit] += (count === '' ? 1 : Number(count)) * found.count;
  }
  return toLargestUnit(sums);
}

/**
 * Expresses a sum in the largest unit that divides it. A month does not have a fixed length in
 * days, so it cannot be combined.
 */
function toLargestUnit({ minutes, days, months }: Record<ParsedInterval['unit'], number>) {
  if (months > 0) {
    const isWhole = Number.isInteger(months) && months <= MAX_MONTHS && minutes + days === 0;
    return isWhole ? ({ unit: 'months', count: months } as const) : null;
  }
  const sum = Math.round(minutes + days * DAY_MINUTES);
  if (!(sum >= 1 && sum <= MAX_MINUTES)) return null;
  const isCalendar = minutes === 0 && Number.isInteger(days);
  return isCalendar
    ? ({ unit: 'days', count: days } as const)
    : ({ unit: 'minutes', count: sum } as const);
}

/**
 * Parses `9:00-21:00`, `9–21`, `22:00 to 2:00` or `9 am - 5 pm`; returns null for anything else,
 * including an empty range.
 */
export function parseDayWindow(written: string): DayWindow | null {
  if (written.length > MAX_WRITTEN) return null;
  const text = written
    .trim()
    .toLowerCase()
    .replace(/^from\s+/, '');
  const [first, second, ...more] = text.split(/\s*[-–—]\s*|\s+(?:to|until|and)\s+/);
  const from = parseClockMinutes(first ?? '');
  const to = parseClockMinutes(second ?? '');
  if (from === null || to === null || more.length > 0) return null;
  if (from % DAY_MINUTES === 0 && to % DAY_MINUTES === 0) return from === to ? null : WHOLE_DAY;
  if (from === to || from === DAY_MINUTES) return null;
  // A range until midnight ends with the day.
  return { from, to: to === 0 ? DAY_MINUTES : to };
}

/**
 * Returns the minutes since midnight of `9:00`, `9`, `09.30`, `9 pm` or `24:00`; null for anything
 * else.
 */
export function parseClockMinutes(written: string): number | null {
  const found = /^(\d{1,2})(?:[:.](\d{2}))?\s*([ap]m)?$/.exec(written.trim().toLowerCase());
  if (found === null) return null;
  const [, hours = '', minutes = '0', half] = found;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half === 'pm' ? 12 : 0);
  const isClock = half === undefined ? hour <= 24 : Number(hours) >= 1 && Number(hours) <= 12;
  const time = hour * 60 + Number(minutes);
  return isClock && Number(minutes) < 60 && time <= DAY_MINUTES ? time : null;
}

/**
 * Describes when a task runs, for people and for the model, such as `every 30 min, 09:00–21:00`.
 */
export function describeSchedule({
  cadence,
  window,
}: Pick<StandingTask, 'cadence' | 'window'>): string {
  const hours = `${formatClockMinutes(window.from)}–${formatClockMinutes(window.to)}`;
  const isWholeDay = window.from === 0 && window.to === DAY_MINUTES;
  const isEachDay = cadence.kind === 'days' && cadence.days === 1;
  const days = window.on && formatDays(window.on);
  const isOneDay = isEachDay && window.on?.of === 'week' && window.on.days.length === 1;
  const often = isEachDay && days !== undefined ? [] : [describeCadence(cadence)];
  const on = days === undefined ? [] : [isOneDay ? `every ${days}` : days];
  return [...often, ...on, ...(isWholeDay ? [] : [hours])].join(', ');
}

const DAY_NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

function formatDays({ of, days }: DayRule): string {
  if (of === 'month') return `on day ${days.join(', ')} of each month`;
  if (days.join() === '1,2,3,4,5') return 'Monday to Friday';
  const names = days.map((day) => DAY_NAMES[day] ?? '');
  return names.length === 1 ? names.join() : names.map((name) => name.slice(0, 3)).join(', ');
}

function describeCadence(cadence: StandingTask['cadence']): string {
  if (cadence.kind === 'days')
    return cadence.days === 1 ? 'every day' : `every ${cadence.days} days`;
  const { minutes } = cadence;
  if (minutes % 60 !== 0) return `every ${minutes} min`;
  return minutes === 60 ? 'every hour' : `every ${minutes / 60} h`;
}

function formatClockMinutes(minutes: number): string {
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60];
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}
