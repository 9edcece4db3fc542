import type { Clock } from '@parley/contracts';
import type { BeatPlan, BeatRun, Store } from '@parley/store';
import { windowAfter, windowAt, zoneClock } from '../zone-clock.ts';
import { dueTask, type Looking, type TaskOutlook } from './due-task.ts';
import type { Heartbeat } from './heartbeat.ts';
import {
  type HeartbeatReport,
  type LastRun,
  momentWords,
  type NextRunWords,
  type TaskReport,
} from './report-shape.ts';
import type { FindTarget } from './run.ts';
import { lastRunsOf } from './state.ts';
import { describeSchedule, type StandingTask } from './task.ts';

/** What a report is made from. */
export interface ReportDeps {
  readonly heartbeat: Pick<Heartbeat, 'status'>;
  readonly store: Pick<Store, 'heartbeats'>;
  readonly agent: { readonly id: string; readonly timeZone: string };
  readonly settings: {
    readonly enabled: boolean;
    readonly everyMinutes: number;
    readonly tokensPerDay: number;
  };
  readonly findTarget: FindTarget;
  readonly clock: Clock;
  /** False: this Parley does not run, so nothing beats until it is started. */
  readonly isRunning: boolean;
}

/** Runs that are looked through for the last one of each task. */
const RUNS = 200;
/** Runs that are shown. */
const SHOWN = 20;
const MINUTE_MS = 60_000;

/** How the heartbeat does now. Nothing is changed by asking. */
export async function makeReport(deps: ReportDeps): Promise<HeartbeatReport> {
  const { store, agent, settings, clock } = deps;
  const [status, runs] = await Promise.all([
    deps.heartbeat.status(),
    store.heartbeats.recent(agent.id, RUNS),
  ]);
  const at: Looking = { now: clock(), clock: zoneClock(agent.timeZone) };
  const { plan, tasks, state, problems } = status;
  const tokens = { today: status.tokensToday, perDay: settings.tokensPerDay };
  const tells = new Map(tasks.map(({ task }) => [task.name, task.tell]));
  const lastRuns = lastRunsOf(state);
  const everyMs = settings.everyMinutes * MINUTE_MS;
  const conditions: Conditions = {
    enabled: settings.enabled,
    running: runs.find((run) => run.state === 'running')?.task ?? null,
    tokens,
    nobody: await nobodyFor(deps, tasks),
    beats: plan === null ? new Map() : forecast(tasks, lastRuns, { ...plan, everyMs }, at),
    at,
  };
  return {
    timeZone: agent.timeZone,
    plan: planOf(deps, plan, at),
    tokens,
    tasks: tasks.map((outlook) => taskReport(outlook, { lastRuns, runs, conditions })),
    runs: runs.slice(0, SHOWN).map((run) => ({
      id: run.id,
      task: run.task,
      state: run.state,
      at: run.startedAt,
      words: runWords(run, tells.get(run.task), at),
      tokens: run.inputTokens + run.outputTokens,
      alert: run.alert,
    })),
    problems: [...problems],
  };
}

interface Known {
  readonly lastRuns: ReadonlyMap<string, number>;
  readonly runs: readonly BeatRun[];
  readonly conditions: Conditions;
}

function taskReport(outlook: TaskOutlook, { lastRuns, runs, conditions }: Known): TaskReport {
  const { task } = outlook;
  const { name, instruction, tell } = task;
  const run = runs.find((one) => one.task === name);
  return {
    name,
    schedule: describeSchedule(task),
    instruction,
    tell: tell ?? null,
    last: lastWords(task, lastRuns.get(name) ?? null, run, conditions.at),
    next: nextWords(outlook, conditions),
  };
}

/** Who cannot be told is found out for each task: some name a group. */
async function nobodyFor(
  { findTarget }: Pick<ReportDeps, 'findTarget'>,
  tasks: readonly TaskOutlook[],
): Promise<Conditions['nobody']> {
  const reasons = new Map<string, string>();
  for (const { task } of tasks) {
    const target = await findTarget(task);
    if (target.kind === 'none') reasons.set(task.name, target.reason);
  }
  return reasons;
}

function planOf(
  { settings, isRunning }: ReportDeps,
  plan: BeatPlan | null,
  { clock, now }: Looking,
): HeartbeatReport['plan'] {
  const { enabled, everyMinutes } = settings;
  const often = `every ${everyMinutes} min`;
  const nextAt = plan === null || !enabled || !isRunning ? null : Math.max(plan.nextAt, now);
  const lastWords =
    plan === null || plan.lastAt === null || plan.lastReason === null
      ? null
      : `${momentWords(plan.lastAt, clock, now)}: ${plan.lastReason}`;
  const facts = { enabled, everyMinutes, nextAt, lastWords };
  if (!enabled) return { ...facts, words: 'off (`heartbeat.enabled` is false in the settings)' };
  if (!isRunning) return { ...facts, words: `${often}, once Parley is started` };
  if (nextAt === null)
    return { ...facts, words: `on, ${often}; the first beat is not planned yet` };
  return { ...facts, words: `on, ${often}; next beat ${momentWords(nextAt, clock, now)}` };
}

/** The rhythm of an agent’s beats, in ms. */
interface Rhythm {
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
function forecast(
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

/** What decides whether a task can run, besides its own hours. */
interface Conditions {
  readonly enabled: boolean;
  /** The task whose run is not over. */
  readonly running: string | null;
  readonly tokens: { readonly today: number; readonly perDay: number };
  /** Why nobody can be told of a task’s alerts, by its name; absent where somebody can. */
  readonly nobody: ReadonlyMap<string, string>;
  /** The beat (ms) of each task by name, null if none is to come; absent before any was planned. */
  readonly beats: ReadonlyMap<string, number | null>;
  readonly at: Looking;
}

/** When a task runs next and why not now, in words. */
function nextWords({ task, next }: TaskOutlook, conditions: Conditions): NextRunWords {
  const { at, enabled, running, tokens, nobody, beats } = conditions;
  const none = (state: NextRunWords['state'], words: string) => ({ state, at: null, words });
  if (running === task.name) return none('running', 'after this run');
  const untold = nobody.get(task.name);
  if (untold !== undefined) return none('nobody-to-tell', `not yet: ${untold}`);
  if (!enabled) return none('off', 'only when asked: the heartbeat is off');
  const beat = beats.get(task.name);
  if (beat === null) {
    return none('no-beat', 'no beat falls into its hours these weeks; give it longer ones');
  }
  const time = beat === undefined ? 'with the first beat' : momentWords(beat, at.clock, at.now);
  const moment = beat ?? null;
  switch (next.kind) {
    case 'due':
      return tokens.today >= tokens.perDay
        ? none('no-tokens', `due, but the ${tokens.perDay} tokens of today are used up: tomorrow`)
        : { state: 'due', at: moment, words: `${time}; it is due` };
    case 'not-yet':
      return { state: 'not-yet', at: moment, words: time };
    case 'out-of-hours':
      return { state: 'out-of-hours', at: moment, words: `${time}; out of its hours now` };
    case 'done':
      return { state: 'done', at: moment, words: `${time}; it had its run of these days` };
  }
}

/** Clocks of the file and of the table are read one after the other. */
const SAME_MS = 5_000;
/** As much of a reason as a telephone shows well, in characters. */
const LONGEST = 160;

/**
 * What came of the last run of a task.
 * @param lastRun when it last began by heartbeat-state.json (ms); later than the run of the table if
 * only its check was made.
 * @param run its newest run, if it is known still.
 */
export function lastWords(
  { check, tell }: Pick<StandingTask, 'check' | 'tell'>,
  lastRun: number | null,
  run: BeatRun | undefined,
  at: Looking,
): LastRun {
  if (lastRun !== null && lastRun > (run?.startedAt ?? 0) + SAME_MS) {
    const time = momentWords(lastRun, at.clock, at.now);
    if (check === undefined) return { state: 'noted', at: lastRun, words: time };
    return { state: 'nothing-new', at: lastRun, words: `${time}, nothing new to look at` };
  }
  if (run === undefined) return { state: 'never', at: null, words: 'never' };
  return { state: run.state, at: run.startedAt, words: runWords(run, tell, at) };
}

/** When a run began and what came of it, such as `14:00, nothing to tell`. */
function runWords(run: BeatRun, tell: string | undefined, at: Looking): string {
  return `${momentWords(run.startedAt, at.clock, at.now)}, ${outcomeOf(run, tell, at)}`;
}

function outcomeOf(
  { state, reason, heldUntil }: BeatRun,
  tell: string | undefined,
  at: Looking,
): string {
  switch (state) {
    case 'running':
      return 'running now';
    case 'quiet':
      return 'nothing to tell';
    case 'alerted':
      return tell === undefined ? 'I told you' : `I told ${tell}`;
    case 'held':
      return heldUntil === null
        ? 'held until the quiet hours are over'
        : `held until ${momentWords(heldUntil, at.clock, at.now)}`;
    case 'repeated':
      return 'the same as before, so I did not tell it again';
    case 'unclear':
      return `an unclear answer, told to nobody${inBrackets(reason)}`;
    case 'failed':
      return `failed${inBrackets(reason)}; told to nobody`;
  }
}

function inBrackets(reason: string | null): string {
  return reason === null ? '' : ` (${reason.replace(/\s+/g, ' ').slice(0, LONGEST)})`;
}
