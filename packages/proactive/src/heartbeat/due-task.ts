import {
  type WindowOfDay,
  windowAfter,
  windowAt,
  windowOn,
  type ZoneClock,
} from '../zone-clock.ts';
import { cadenceMinutes, FLOOR_MINUTES, type StandingTask } from './task.ts';

const MINUTE_MS = 60_000;

export interface TaskOutlook {
  readonly task: StandingTask;
  readonly next: NextRun;
}

/** A task that may run now. */
export interface DueTask {
  readonly task: StandingTask;
  /** Since when it might have run (ms). */
  readonly since: number;
}

/**
 * The tasks that may run inside their hours, the most overdue first; a heartbeat runs one of them (H02).
 * What was missed while the machine slept is done once. Tasks that never ran come first, in the order of
 * the file. `nextAt`: when the first of the others is due (ms).
 * @param lastRuns when each task last began (ms), by name.
 */
export function dueTasks(
  tasks: readonly StandingTask[],
  lastRuns: ReadonlyMap<string, number>,
  looking: Looking,
): { readonly due: readonly DueTask[]; readonly nextAt: number | null } {
  const fresh: DueTask[] = [];
  const overdue: DueTask[] = [];
  let nextAt: number | null = null;
  for (const { task, next } of outlook(tasks, lastRuns, looking)) {
    if (next.kind !== 'due') nextAt = Math.min(nextAt ?? next.nextAt, next.nextAt);
    else (next.neverRan ? fresh : overdue).push({ task, since: next.since });
  }
  return { due: [...fresh, ...overdue.sort((a, b) => a.since - b.since)], nextAt };
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
  | { readonly kind: 'not-yet'; readonly nextAt: number }
  /** Its time has come, but not its hours. */
  | { readonly kind: 'out-of-hours'; readonly since: number; readonly nextAt: number }
  /** It is one for every so many days, and this one had it. */
  | { readonly kind: 'done'; readonly nextAt: number };

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
