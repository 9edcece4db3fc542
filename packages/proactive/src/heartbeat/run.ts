import { createHash } from 'node:crypto';
import { type Clock, type Logger, type ReplyRoute, reasonOf } from '@parley/contracts';
import type { BeatPlan, BeatSlot, Store } from '@parley/store';
import { restrictView, type WorkspaceView } from '@parley/workspace';
import { z } from 'zod';
import { wallMinute, zoneClock } from '../zone-clock.ts';
import { tokensToday } from './budget.ts';
import { dueTask, type Looking, outlook, type TaskOutlook } from './due-task.ts';
import { type BeatTarget, type FindTarget, orderOf } from './order.ts';
import { readTasks } from './read-tasks.ts';
import { type HeartbeatState, lastRunsOf, openStateFile, type StateFile } from './state.ts';
import {
  describeTaskProblem,
  HEARTBEAT_READS,
  type PreCheck,
  type StandingTask,
  TASKS_FILE,
} from './task.ts';

export interface HeartbeatDeps extends BeatDeps {
  /** The owner’s. */
  readonly view: WorkspaceView;
  readonly settings: {
    readonly enabled: boolean;
    readonly everyMinutes: number;
    readonly tokensPerDay: number;
  };
  /** Notifies the owner when runs keep failing. */
  readonly tellFailures?: () => Promise<void>;
  /** Wakes the delivery of a chat. */
  readonly deliver: (route: ReplyRoute) => Promise<void>;
}

/** State of the heartbeat, for `/heartbeat` and the console. */
export interface HeartbeatStatus {
  readonly plan: BeatPlan | null;
  readonly tasks: readonly TaskOutlook[];
  readonly state: HeartbeatState;
  /** Problems in HEARTBEAT.md, in sentences. */
  readonly problems: readonly string[];
  readonly tokensToday: number;
}

/** The heartbeat runs of one agent, and the state of its tasks. */
export interface HeartbeatRuns {
  /** One heartbeat: scheduled, or requested (then there is no slot). */
  beat(slot: BeatSlot | null, asked?: Requested): Promise<BeatOutcome>;
  status(): Promise<HeartbeatStatus>;
}

const WHOLE_FILE = 100_000;

/** Opens the tasks file and the state file. */
export function openRuns(deps: HeartbeatDeps): HeartbeatRuns {
  const view = restrictView(deps.view, { id: 'heartbeat', reads: HEARTBEAT_READS }, deps.log);
  const stateFile = openStateFile(view, deps.log);
  let lastProblems = '';
  const read = async (): Promise<Standing & { readonly problems: readonly string[] }> => {
    const file = await view.read(TASKS_FILE, WHOLE_FILE);
    const found = readTasks(file.kind === 'file' ? file.text : '');
    const problems = [
      ...found.problems.map(describeTaskProblem),
      ...found.tasks.flatMap((task) => uncheckable(task, deps.checkForNews)),
    ];
    if (problems.length > 0 && problems.join() !== lastProblems) {
      deps.log.warn({ problems }, 'HEARTBEAT.md is not all understood');
    }
    lastProblems = problems.join();
    const state = await stateFile.read(await deps.store.heartbeats.lastRuns(deps.agent.id));
    const at = { now: deps.clock(), clock: zoneClock(deps.agent.timeZone) };
    return { tasks: found.tasks, problems, state, at };
  };
  const beat = async (slot: BeatSlot | null, asked?: Requested): Promise<BeatOutcome> => {
    const outcome = await runHeartbeat(deps, { standing: await read(), stateFile, slot, asked });
    deps.log.debug({ agent: deps.agent.id, ...outcome }, 'beat');
    return outcome;
  };
  return {
    beat,
    async status() {
      const { tasks, state, problems, at } = await read();
      return {
        plan: await deps.store.heartbeats.plan(deps.agent.id),
        tasks: outlook(tasks, lastRunsOf(state), at),
        state,
        problems,
        tokensToday: await tokensToday(deps),
      };
    },
  };
}

/** The problem of a check that cannot be made here: its task runs each time. */
function uncheckable(
  { name, line, check }: StandingTask,
  checkForNews: CheckForNews | undefined,
): readonly string[] {
  const why = check === undefined ? null : (checkForNews?.whyNot(check) ?? null);
  if (why === null) return [];
  return [`HEARTBEAT.md, line ${line}, ${name}: it runs without its check, as ${why}.`];
}

export interface BeatDeps extends StartRunDeps {
  readonly settings: { readonly everyMinutes: number; readonly tokensPerDay: number };
  readonly findTarget: FindTarget;
  /** Runs the checks of tasks; without it every task calls the model. */
  readonly checkForNews?: CheckForNews;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Whether a run started, or why none did. */
export type BeatOutcome =
  | { readonly kind: 'begun'; readonly task: string }
  | { readonly kind: 'rested'; readonly reason: string };

/** The contents of both files at a moment. */
interface Standing {
  readonly tasks: readonly StandingTask[];
  readonly state: HeartbeatState;
  readonly at: Looking;
}

/** A requested run: of the due task, or of a named one. */
interface Requested {
  readonly id: string;
  readonly task?: string;
}

/** One heartbeat: scheduled, or requested (then there is no slot). */
interface Beat {
  readonly standing: Standing;
  readonly stateFile: StateFile;
  readonly slot: BeatSlot | null;
  readonly asked: Requested | undefined;
}

/** Starts the run of at most one task, the most overdue one that can run (H02). */
async function runHeartbeat(deps: BeatDeps, beat: Beat): Promise<BeatOutcome> {
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

/** The tasks that may run now, the most overdue first; the first that can is run. */
function chooseTasks(
  { tasks, state, at }: Standing,
  everyMinutes: number,
  asked: Requested | undefined,
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
 * When tasks would have run without delays, which follow a busy moment or a crash. A heartbeat that is on
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

interface Attempt extends Beat {
  readonly state: HeartbeatState;
  readonly task: StandingTask;
}

type AttemptResult =
  | RunStart
  | { readonly kind: 'next'; readonly reason: string; readonly state: HeartbeatState };

/** Runs a task unless no chat can be notified, nothing is new, or another run is not over. */
async function tryTask(deps: BeatDeps, trying: Attempt): Promise<AttemptResult> {
  const { task, state, stateFile, asked } = trying;
  const target = await deps.findTarget(task);
  if (target.kind === 'none') return { kind: 'next', reason: target.reason, state };
  const news = await newsOf(deps, task, state.tasks.get(task.name)?.more, asked?.task);
  const now = deps.clock();
  if (news.kind === 'nothing-new') {
    const next = await stateFile.began(state, task, now, news.seen);
    return { kind: 'next', reason: `${task.name}: nothing is new`, state: next };
  }
  const begun = await startRun(deps, {
    task,
    target,
    slot: trying.slot,
    lastRun: state.tasks.get(task.name)?.lastRun ?? null,
    now,
    ...(asked !== undefined && { id: asked.id }),
  });
  if (begun.kind === 'begun') await stateFile.began(state, task, now, news.seen);
  return begun;
}

interface StartRunDeps {
  readonly store: Pick<Store, 'heartbeats'>;
  readonly agent: { readonly id: string; readonly timeZone: string };
  readonly wake: (lane: string) => Promise<void>;
  readonly clock: Clock;
}

interface NewRun {
  readonly task: StandingTask;
  readonly target: Extract<BeatTarget, { kind: 'chat' }>;
  /** Its slot; null where it is requested. */
  readonly slot: BeatSlot | null;
  /** In ms; null: never. */
  readonly lastRun: number | null;
  /** The moment that the state file is given too: a later one would be taken for a run that it missed. */
  readonly now: number;
  /** The id of a requested run. */
  readonly id?: string;
}

/** `stop`: no other task can start now either. */
type RunStart = { readonly kind: 'begun' } | { readonly kind: 'stop'; readonly reason: string };

/** Starts a run and wakes its lane. */
async function startRun(
  { store, agent, wake }: StartRunDeps,
  { task, target, slot, lastRun, now, id }: NewRun,
): Promise<RunStart> {
  const order = orderOf({
    // The id is derived from the slot: another process with the same slot cannot start a second run.
    id: id ?? `beat_${agent.id}_${slot?.dueAt ?? now}`,
    agent: agent.id,
    task,
    lastRun: lastRun === null ? 'never' : wallMinute(lastRun, agent.timeZone),
    target,
    now,
  });
  const begun = await store.heartbeats.begin(order, slot, now);
  if (begun === 'busy') return { kind: 'stop', reason: 'the run before is not over yet' };
  if (begun === 'gone') return { kind: 'stop', reason: 'another process has this beat' };
  await wake(order.message.conversationId);
  return { kind: 'begun' };
}

/** Makes the checks of tasks. */
export interface CheckForNews {
  /** Why this check is not possible, in a few words; null where it is. */
  whyNot(check: PreCheck): string | null;
  /** The result; throws where the check fails this time. */
  look(check: PreCheck): Promise<string>;
}

/** Whether the model has to be called, and what the state file records. */
type News = {
  readonly kind: 'nothing-new' | 'new';
  readonly seen: { readonly checked?: string };
};

/** The state file holds a hash of a check's result, not the result. */
const Noted = z.object({ checked: z.string() });

/**
 * Whether the result of a task's check has changed since the last one. A check that fails, or was never
 * made, counts as new: the model finds out why. So does a task that a person requests by name.
 */
async function newsOf(
  { checkForNews, log }: { readonly checkForNews?: CheckForNews; readonly log: Logger },
  { name, check }: StandingTask,
  noted: Readonly<Record<string, unknown>> = {},
  asked?: string,
): Promise<News> {
  if (check === undefined || checkForNews === undefined) return { kind: 'new', seen: {} };
  if (checkForNews.whyNot(check) !== null) return { kind: 'new', seen: {} };
  try {
    const seen = await checkForNews.look(check);
    const checked = createHash('sha256').update(seen).digest('hex').slice(0, 16);
    const before = Noted.safeParse(noted);
    const isSame = before.success && before.data.checked === checked && asked === undefined;
    return { kind: isSame ? 'nothing-new' : 'new', seen: { checked } };
  } catch (error) {
    log.warn({ task: name, reason: reasonOf(error) }, 'the check of a standing task failed');
    return { kind: 'new', seen: {} };
  }
}
