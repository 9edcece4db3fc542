import {
  type WindowOfDay,
  windowAfter,
  windowAt,
  windowOn,
  type ZoneClock,
} from '../zone-clock.ts';
import { cadenceMinutes, FLOOR_MINUTES, type StandingTask } from './task.ts';

const MINUTE_MS = 60_000;

/** A task with the answer to "when, and why not now". */
export interface TaskOutlook {
  readonly task: StandingTask;
  readonly next: NextRun;
}

/** What one beat of the heart is for: one task at most (H02). */
type DueTask =
  | {
      readonly kind: 'due';
      readonly task: StandingTask;
      /** Minutes since it might have run, rounded down. */
      readonly overdueMin: number;
      /** All others, as they stand in the file; due ones among them wait for the next beat. */
      readonly others: readonly TaskOutlook[];
    }
  /** No model call. `nextAt`: when the first of them is due (ms); null without tasks. */
  | {
      readonly kind: 'none';
      readonly nextAt: number | null;
      readonly others: readonly TaskOutlook[];
    };

/**
 * The most overdue task inside its hours. What was missed while the machine slept is done once, and
 * one task a beat. Tasks that never ran come first, in the order of the file.
 * @param lastRuns when each task last began (ms), by name.
 */
export function dueTask(
  tasks: readonly StandingTask[],
  lastRuns: ReadonlyMap<string, number>,
  looking: Looking,
): DueTask {
  const all = outlook(tasks, lastRuns, looking);
  let first: { readonly task: StandingTask; readonly since: number; readonly rank: number } | null =
    null;
  let nextAt: number | null = null;
  for (const { task, next } of all) {
    if (next.kind !== 'due') {
      nextAt = Math.min(nextAt ?? next.nextAt, next.nextAt);
      continue;
    }
    const rank = next.neverRan ? Number.NEGATIVE_INFINITY : next.since;
    if (first === null || rank < first.rank) first = { task, since: next.since, rank };
  }
  if (first === null) return { kind: 'none', nextAt, others: all };
  const { task, since } = first;
  const overdueMin = Math.floor((looking.now - since) / MINUTE_MS);
  return { kind: 'due', task, overdueMin, others: all.filter((each) => each.task !== task) };
}

/** When each task runs next and why not now, in the order of the file. */
export function outlook(
  tasks: readonly StandingTask[],
  lastRuns: ReadonlyMap<string, number>,
  looking: Looking,
): readonly TaskOutlook[] {
  return tasks.map((task) => ({
    task,
    next: nextRun(task, lastRuns.get(task.name) ?? null, looking),
  }));
}

/** So far clocks of machines differ; a last run further ahead was noted by a clock that was wrong. */
const SKEW_MS = 5 * MINUTE_MS;

/** When a task runs next, and why then. Moments in ms. */
type NextRun =
  /** It may run now, and might have since that moment. */
  | { readonly kind: 'due'; readonly since: number; readonly neverRan: boolean }
  /** Its time has not come. */
  | { readonly kind: 'not-yet'; readonly nextAt: number }
  /** Its time has come, but not its hours. */
  | { readonly kind: 'out-of-hours'; readonly since: number; readonly nextAt: number }
  /** It is one for every so many days, and this one had it. */
  | { readonly kind: 'done'; readonly nextAt: number };

/** The clock at which it is looked. */
export interface Looking {
  readonly clock: ZoneClock;
  readonly now: number;
}

/** When this task is due, after it last ran at that moment (null: never). */
export function nextRun(
  task: StandingTask,
  lastRun: number | null,
  { clock, now }: Looking,
): NextRun {
  const hours = windowAt(clock, task.window, now);
  // The clock was put back, or was wrong: what it noted must not hold the task up.
  const isAhead = lastRun !== null && lastRun > now + SKEW_MS;
  if (task.cadence.kind === 'days') {
    const last = lastRun === null ? null : dayOfRun(task, lastRun, clock);
    const today = dayOfRun(task, now, clock);
    const isTrusted = last !== null && !(isAhead && last > today);
    return onDays(task, isTrusted ? last : null, { clock, now, hours });
  }
  if (lastRun === null || isAhead) return atOnce(task, { clock, now, hours });
  const minutes = Math.max(cadenceMinutes(task.cadence), FLOOR_MINUTES);
  const wanted = lastRun + minutes * MINUTE_MS;
  const isIn = windowAt(clock, task.window, wanted) !== null;
  const since = isIn ? wanted : windowAfter(clock, task.window, wanted).start;
  if (since > now) return { kind: 'not-yet', nextAt: since };
  if (hours !== null) return { kind: 'due', since, neverRan: false };
  return { kind: 'out-of-hours', since, nextAt: windowAfter(clock, task.window, now).start };
}

interface LookingAtHours extends Looking {
  /** The task's hours now; null out of them. */
  readonly hours: WindowOfDay | null;
}

function atOnce({ window }: StandingTask, { clock, now, hours }: LookingAtHours): NextRun {
  if (hours !== null) return { kind: 'due', since: hours.start, neverRan: true };
  return { kind: 'not-yet', nextAt: windowAfter(clock, window, now).start };
}

/** @param last the day whose hours it last ran in; null if it never did. */
function onDays(
  task: StandingTask,
  last: number | null,
  { clock, now, hours }: LookingAtHours,
): NextRun {
  if (last === null) return atOnce(task, { clock, now, hours });
  const days = task.cadence.kind === 'days' ? task.cadence.days : 1;
  const wanted = windowOn(clock, task.window, last + days);
  const isDone = hours !== null && hours.day < last + days;
  if (isDone || wanted.start > now)
    return { kind: isDone ? 'done' : 'not-yet', nextAt: wanted.start };
  if (hours !== null) return { kind: 'due', since: wanted.start, neverRan: false };
  const { start } = windowAfter(clock, task.window, now);
  return { kind: 'out-of-hours', since: wanted.start, nextAt: start };
}

/** The day whose hours hold this moment; out of hours (somebody asked for it) the last that began. */
function dayOfRun({ window }: StandingTask, moment: number, clock: ZoneClock): number {
  const hours = windowAt(clock, window, moment);
  return hours?.day ?? windowAfter(clock, window, moment).day - 1;
}
