import type { Clock } from '@parley/contracts';
import type { BeatPlan, BeatRun, Store } from '@parley/store';
import { zoneClock } from '../clock/zone-clock.ts';
import type { FindTarget } from '../heartbeat/beat-target.ts';
import { describeSchedule } from '../heartbeat/describe-schedule.ts';
import type { TaskOutlook } from '../heartbeat/due-task.ts';
import type { Heartbeat } from '../heartbeat/heartbeat.ts';
import { lastRunsOf } from '../heartbeat/heartbeat-state.ts';
import type { Looking } from '../heartbeat/next-run.ts';
import { forecast } from './forecast.ts';
import type { HeartbeatReport, TaskReport } from './heartbeat-report.ts';
import { lastWords, runWords } from './last-words.ts';
import { momentWords } from './moment-words.ts';
import { type Conditions, nextWords } from './next-words.ts';

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
