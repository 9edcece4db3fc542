import { type Looking, type NextRun, nextRun } from './next-run.ts';
import type { StandingTask } from './standing-task.ts';

const MINUTE_MS = 60_000;

/** A task with the answer to "when, and why not now". */
export interface TaskOutlook {
  readonly task: StandingTask;
  readonly next: NextRun;
}

/** What one beat of the heart is for: one task at most (H02). */
export type DueTask =
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
