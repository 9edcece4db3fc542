import { windowAfter, windowAt } from '../clock/day-window.ts';
import { dueTask, type TaskOutlook } from '../heartbeat/due-task.ts';
import type { Looking } from '../heartbeat/next-run.ts';

/** The rhythm of an agent’s beats, in ms. */
export interface Rhythm {
  /** The next beat; it may lie in the past while Parley does not run. */
  readonly nextAt: number;
  readonly everyMs: number;
}

/** So many beats are played through, a day or two; what comes later is reckoned from its hours alone. */
const BEATS = 60;
/** Days in which a beat has to fall into the hours of a task. */
const DAYS = 40;

/**
 * The beat (ms) that each task will get, by name: one task a beat, as they will be chosen. Null where
 * no beat falls into its hours: those may be shorter than the time between two beats.
 */
export function forecast(
  tasks: readonly TaskOutlook[],
  lastRuns: ReadonlyMap<string, number>,
  rhythm: Rhythm,
  at: Looking,
): ReadonlyMap<string, number | null> {
  const found = new Map<string, number | null>();
  const runs = new Map(lastRuns);
  const all = tasks.map(({ task }) => task);
  let beat = beatFrom(at.now, rhythm, at);
  for (let beats = 0; beats < BEATS && found.size < all.length; beats += 1) {
    const due = dueTask(all, runs, { ...at, now: beat });
    if (due.kind === 'none') {
      if (due.nextAt === null) break;
      beat = beatFrom(Math.max(due.nextAt, beat + 1), rhythm, at);
      continue;
    }
    const { name } = due.task;
    if (!found.has(name)) found.set(name, beat);
    runs.set(name, beat);
    beat = beatFrom(beat + 1, rhythm, at);
  }
  for (const one of tasks) {
    if (!found.has(one.task.name)) found.set(one.task.name, beatInHours(one, rhythm, at));
  }
  return found;
}

/** The first beat at or after a moment; one that is over comes as soon as Parley runs. */
function beatFrom(moment: number, { nextAt, everyMs }: Rhythm, { now }: Looking): number {
  if (moment <= Math.max(nextAt, now)) return Math.max(nextAt, now);
  return nextAt + Math.ceil((moment - nextAt) / everyMs) * everyMs;
}

function beatInHours({ task, next }: TaskOutlook, rhythm: Rhythm, at: Looking): number | null {
  const { clock, now } = at;
  let beat = beatFrom(next.kind === 'due' ? now : next.nextAt, rhythm, at);
  for (let day = 0; day < DAYS; day += 1) {
    if (windowAt(clock, task.window, beat) !== null) return beat;
    beat = beatFrom(windowAfter(clock, task.window, beat).start, rhythm, at);
  }
  return null;
}
