import { dueTask, type TaskOutlook } from '../heartbeat/due-task.ts';
import type { Looking } from '../heartbeat/next-run.ts';
import type { StandingTask } from '../heartbeat/standing-task.ts';
import type { NextRunWords } from './heartbeat-report.ts';
import { momentWords } from './moment-words.ts';
import { nextBeat, type Rhythm } from './next-beat.ts';

/** What decides whether a task can run, besides its own hours. */
export interface Conditions {
  readonly enabled: boolean;
  /** Null before the first beat was planned. */
  readonly rhythm: Rhythm | null;
  /** The task whose run is not over. */
  readonly running: string | null;
  readonly tokens: { readonly today: number; readonly perDay: number };
  /** Why nobody can be told of this task’s alerts; null when somebody can. */
  readonly nobody: (task: StandingTask) => string | null;
  /** Due tasks in the order of the beats that they get: one each. */
  readonly queue: readonly StandingTask[];
  readonly at: Looking;
}

/** The tasks that are due, in the order in which beats take them (H02). */
export function dueInOrder(
  tasks: readonly StandingTask[],
  lastRuns: ReadonlyMap<string, number>,
  at: Looking,
): readonly StandingTask[] {
  const due = dueTask(tasks, lastRuns, at);
  if (due.kind === 'none') return [];
  const others = due.others.map(({ task }) => task);
  return [due.task, ...dueInOrder(others, lastRuns, at)];
}

/** When a task runs next and why not now, in words. */
export function nextWords({ task, next }: TaskOutlook, conditions: Conditions): NextRunWords {
  const { at, enabled, running, tokens } = conditions;
  if (running === task.name) return { state: 'running', at: null, words: 'after this run' };
  const nobody = conditions.nobody(task);
  if (nobody !== null) {
    return { state: 'nobody-to-tell', at: null, words: `not yet: ${nobody}` };
  }
  if (!enabled) return { state: 'off', at: null, words: 'only when asked: the heartbeat is off' };
  const beat = beatOf({ task, next }, conditions);
  if (beat === null) {
    const words = 'never: no beat falls into its hours; give it longer ones';
    return { state: 'no-beat', at: null, words };
  }
  const time = beat === 'soon' ? 'with the next beat' : momentWords(beat, at.clock, at.now);
  const moment = beat === 'soon' ? null : beat;
  const isUsedUp = tokens.today >= tokens.perDay;
  switch (next.kind) {
    case 'due':
      if (isUsedUp) {
        const words = `due, but the ${tokens.perDay} tokens of today are used up: tomorrow`;
        return { state: 'no-tokens', at: null, words };
      }
      return { state: 'due', at: moment, words: `${time}; it is due` };
    case 'not-yet':
      return { state: 'not-yet', at: moment, words: time };
    case 'out-of-hours':
      return { state: 'out-of-hours', at: moment, words: `${time}; out of its hours now` };
    case 'done':
      return { state: 'done', at: moment, words: `${time}; it had its run of these days` };
  }
}

/** The beat that a task gets; `soon` before any was planned. */
function beatOf(
  { task, next }: TaskOutlook,
  { rhythm, queue, at }: Conditions,
): number | 'soon' | null {
  if (rhythm === null) return 'soon';
  if (next.kind !== 'due') return nextBeat(next.nextAt, task.window, rhythm, at);
  const turn = Math.max(0, queue.indexOf(task));
  const first = Math.max(rhythm.nextAt, at.now);
  return nextBeat(first + turn * rhythm.everyMs, task.window, rhythm, at);
}
