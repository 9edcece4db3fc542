import type { Logger } from '@parley/contracts';
import type { BeatSlot } from '@parley/store';
import type { FindTarget } from './beat-target.ts';
import { type BeginBeatDeps, type BegunBeat, beginBeat } from './begin-beat.ts';
import { type CheckForNews, newsOf } from './check-for-news.ts';
import { dueTask } from './due-task.ts';
import { type HeartbeatState, lastRunsOf } from './heartbeat-state.ts';
import type { Looking } from './next-run.ts';
import type { StandingTask } from './standing-task.ts';
import type { StateFile } from './state-file.ts';
import { tokensToday } from './tokens-today.ts';

/** What one beat works with. */
export interface BeatDeps extends BeginBeatDeps {
  readonly settings: { readonly everyMinutes: number; readonly tokensPerDay: number };
  readonly findTarget: FindTarget;
  /** Runs what a task has looked at first; without it every task asks the model. */
  readonly checkForNews?: CheckForNews;
  readonly log: Logger;
}

/** What became of a beat: a run began, or why none did. */
export type BeatOutcome =
  | { readonly kind: 'begun'; readonly task: string }
  | { readonly kind: 'rested'; readonly reason: string };

/** What the files say at a moment. */
export interface Standing {
  readonly tasks: readonly StandingTask[];
  readonly state: HeartbeatState;
  readonly at: Looking;
}

/** A beat that somebody asked for: of the task that is due, or of a named one. */
export interface Asked {
  readonly id: string;
  readonly task?: string;
}

/** One beat: at its time, or because somebody asked for it (then there is no slot). */
export interface Beat {
  readonly standing: Standing;
  readonly stateFile: StateFile;
  readonly slot: BeatSlot | null;
  readonly asked: Asked | undefined;
}

/** Begins the run of one task at most, the most overdue one that can run (H02). */
export async function beatOnce(deps: BeatDeps, beat: Beat): Promise<BeatOutcome> {
  const { standing, slot, asked } = beat;
  const rest = async (reason: string): Promise<BeatOutcome> => {
    if (slot !== null) await deps.store.heartbeats.rest(slot, reason, deps.clock());
    return { kind: 'rested', reason };
  };
  const { tasksDue, reason } = chooseTasks(standing, deps.settings.everyMinutes, asked);
  if (tasksDue.length === 0) return rest(reason);
  if ((await tokensToday(deps)) >= deps.settings.tokensPerDay) {
    return rest(`the ${deps.settings.tokensPerDay} tokens of today are used up`);
  }
  let last = reason;
  let { state } = standing;
  for (const task of tasksDue) {
    const begun = await tryTask(deps, { ...beat, state, task });
    if (begun.kind === 'begun') return { kind: 'begun', task: task.name };
    last = begun.reason;
    if (begun.kind === 'stop') break;
    state = begun.state;
  }
  return rest(last);
}

/** The tasks that may run in this beat, the most overdue first; the first that can is run. */
function chooseTasks(
  { tasks, state, at }: Standing,
  everyMinutes: number,
  asked: Asked | undefined,
): { readonly tasksDue: StandingTask[]; readonly reason: string } {
  if (tasks.length === 0) return { tasksDue: [], reason: 'HEARTBEAT.md has no tasks' };
  if (asked?.task !== undefined) {
    const task = tasks.find(({ name }) => name.toLowerCase() === asked.task?.toLowerCase());
    const names = tasks.map(({ name }) => name).join(', ');
    return {
      tasksDue: task === undefined ? [] : [task],
      reason: `HEARTBEAT.md has no task "${asked.task}"; there are: ${names}`,
    };
  }
  const tasksDue: StandingTask[] = [];
  const lastRuns = withoutDelay(tasks, lastRunsOf(state), everyMinutes);
  let left = tasks;
  for (;;) {
    const due = dueTask(left, lastRuns, at);
    if (due.kind === 'none') break;
    tasksDue.push(due.task);
    left = left.filter((task) => task !== due.task);
  }
  return { tasksDue, reason: 'no task is due' };
}

/**
 * When tasks last ran, had their beats not come late: after a busy moment, or a death. A beat that is on
 * time must not find that its task ran 29 minutes and 59 seconds ago, and leave it to the next one.
 */
function withoutDelay(
  tasks: readonly StandingTask[],
  lastRuns: ReadonlyMap<string, number>,
  everyMinutes: number,
): ReadonlyMap<string, number> {
  const delays = new Map(
    tasks.flatMap(({ name, cadence }) =>
      cadence.kind === 'minutes'
        ? [[name, Math.min(cadence.minutes, everyMinutes) / 4] as const]
        : [],
    ),
  );
  return new Map([...lastRuns].map(([name, at]) => [name, at - (delays.get(name) ?? 0) * 60_000]));
}

interface Trying extends Beat {
  readonly state: HeartbeatState;
  readonly task: StandingTask;
}

type Tried =
  | BegunBeat
  | { readonly kind: 'next'; readonly reason: string; readonly state: HeartbeatState };

/** Runs a task unless nobody can be told, nothing is new, or another run is not over. */
async function tryTask(deps: BeatDeps, trying: Trying): Promise<Tried> {
  const { task, state, stateFile, asked } = trying;
  const target = await deps.findTarget(task);
  if (target.kind === 'none') return { kind: 'next', reason: target.reason, state };
  const news = await newsOf(deps, task, state.tasks.get(task.name)?.more, asked?.task);
  const now = deps.clock();
  if (news.kind === 'nothing-new') {
    const next = await stateFile.began(state, task, now, news.seen);
    return { kind: 'next', reason: `${task.name}: nothing is new`, state: next };
  }
  const begun = await beginBeat(deps, {
    task,
    target,
    slot: trying.slot,
    lastRun: state.tasks.get(task.name)?.lastRun ?? null,
    ...(asked !== undefined && { id: asked.id }),
  });
  if (begun.kind === 'begun') await stateFile.began(state, task, now, news.seen);
  return begun;
}
