import { formatInlineCode, pluralize, toLiteralLine } from '@parley/core';
import type { HeartbeatPlan, HeartbeatRun } from '@parley/store';
import { createZoneClock, findWindowAfter, findWindowAt } from '../zone-clock.ts';
import {
  formatMoment,
  type HeartbeatReport,
  type LastRun,
  type NextRunText,
  type TaskReport,
} from './report-shape.ts';
import { listDueTasks, type ObservationTime, type TaskOutlook } from './run.ts';
import type { HeartbeatServices, HeartbeatStatus } from './services.ts';
import { listLastRuns } from './state.ts';
import { describeSchedule, type StandingTask } from './task.ts';

/** How many runs are searched for each task's last run. */
const RUNS = 200;
const SHOWN = 20;
const MINUTE_MS = 60_000;

export async function createReport(
  deps: HeartbeatServices,
  { plan, tasks, state, problems, context, zone, tokensToday }: HeartbeatStatus,
): Promise<HeartbeatReport> {
  const { store, agent, settings, clock } = deps;
  const runs = await store.heartbeats.recent(agent.id, RUNS);
  const at: ObservationTime = { now: clock(), clock: createZoneClock(zone.timeZone) };
  const tokens = { today: tokensToday, perDay: settings.tokensPerDay };
  const groups = new Map(tasks.map(({ task }) => [task.name, task.tell]));
  const lastRuns = listLastRuns(state);
  const rhythm = plan && { nextAt: plan.nextAt, everyMs: settings.everyMinutes * MINUTE_MS };
  const conditions: RunConditions = {
    enabled: settings.enabled,
    running: runs.find((run) => run.state === 'running')?.task ?? null,
    tokens,
    nextRuns: rhythm === null ? new Map() : forecastRuns(tasks, lastRuns, rhythm, at),
    at,
  };
  const taskReport = async (outlook: TaskOutlook): Promise<TaskReport> => {
    const { task } = outlook;
    const { name, instruction, tell = null } = task;
    const run = runs.find((one) => one.task === name);
    const last = describeLastTaskRun(task, lastRuns.get(name) ?? null, run, at);
    // The chat is looked up per task, because some tasks name a group.
    const target = await deps.findTarget(task);
    const next = describeNextRun(
      outlook,
      target.kind === 'none' ? target.reason : null,
      conditions,
    );
    return { name, schedule: describeSchedule(task), instruction, tell, last, next };
  };
  return {
    timeZone: zone.timeZone,
    ...(zone.why !== undefined && { timeZoneFrom: zone.why }),
    ...(context !== undefined && { context }),
    plan: describePlan(deps, plan, at),
    tokens,
    tasks: await Promise.all(tasks.map(taskReport)),
    runs: runs.slice(0, SHOWN).map((run) => ({
      id: run.id,
      task: run.task,
      state: run.state,
      at: run.startedAt,
      text: describeRun(run, groups.get(run.task), at),
      tokens: run.inputTokens + run.outputTokens,
      alert: run.alert,
    })),
    problems: [...problems],
  };
}

function describePlan(
  { settings, isRunning = true }: HeartbeatServices,
  plan: HeartbeatPlan | null,
  { clock, now }: ObservationTime,
): HeartbeatReport['plan'] {
  const { enabled, everyMinutes } = settings;
  const often = `every ${everyMinutes} min`;
  const nextAt = plan === null || !enabled || !isRunning ? null : Math.max(plan.nextAt, now);
  const lastSkip =
    plan === null || plan.lastAt === null || plan.lastReason === null
      ? null
      : `${formatMoment(plan.lastAt, clock, now)}: ${plan.lastReason}`;
  const facts = { enabled, everyMinutes, nextAt, lastSkip };
  if (!enabled) return { ...facts, text: 'off (`heartbeat.enabled` is false in the settings)' };
  if (!isRunning) return { ...facts, text: `${often}, once Parley is started` };
  if (nextAt === null)
    return { ...facts, text: `on, ${often}; the first run is not scheduled yet` };
  return { ...facts, text: `on, ${often}; next run ${formatMoment(nextAt, clock, now)}` };
}

interface HeartbeatSchedule {
  /** The time of the next run, in ms. This may be in the past while Parley is not running. */
  readonly nextAt: number;
  readonly everyMs: number;
}

/**
 * How many runs are simulated, which covers a day or two. Later runs are computed from the task's
 * hours alone.
 */
const SIMULATED_RUNS = 60;
/** The number of days in which at least one run must fall within a task's hours. */
const DAYS = 40;

/**
 * Returns the next run (ms) of each task, by name; each run takes one task, chosen as in real runs.
 * Null if no run falls within the task's hours, which may be shorter than the interval between two
 * runs.
 */
function forecastRuns(
  tasks: readonly TaskOutlook[],
  lastRuns: ReadonlyMap<string, number>,
  rhythm: HeartbeatSchedule,
  at: ObservationTime,
): ReadonlyMap<string, number | null> {
  const found = new Map<string, number | null>();
  const runs = new Map(lastRuns);
  const all = tasks.map(({ task }) => task);
  let runAt = findNextRunFrom(at.now, rhythm, at);
  for (let count = 0; count < SIMULATED_RUNS && found.size < all.length; count += 1) {
    const { due, nextAt } = listDueTasks(all, runs, { ...at, now: runAt });
    const name = due[0]?.task.name;
    if (name !== undefined) {
      if (!found.has(name)) found.set(name, runAt);
      runs.set(name, runAt);
    }
    runAt = findNextRunFrom(
      Math.max(name === undefined ? (nextAt ?? 0) : 0, runAt + 1),
      rhythm,
      at,
    );
  }
  for (const one of tasks) {
    if (!found.has(one.task.name)) found.set(one.task.name, findRunInHours(one, rhythm, at));
  }
  return found;
}

/**
 * Returns the first run at or after a moment. An overdue run starts as soon as Parley is running.
 */
function findNextRunFrom(
  moment: number,
  { nextAt, everyMs }: HeartbeatSchedule,
  { now }: ObservationTime,
): number {
  if (moment <= Math.max(nextAt, now)) return Math.max(nextAt, now);
  return nextAt + Math.ceil((moment - nextAt) / everyMs) * everyMs;
}

function findRunInHours(
  { task, next }: TaskOutlook,
  rhythm: HeartbeatSchedule,
  at: ObservationTime,
): number | null {
  const { clock, now } = at;
  let runAt = findNextRunFrom(next.kind === 'due' ? now : next.nextAt, rhythm, at);
  for (let day = 0; day < DAYS; day += 1) {
    if (findWindowAt(clock, task.window, runAt) !== null) return runAt;
    runAt = findNextRunFrom(findWindowAfter(clock, task.window, runAt).start, rhythm, at);
  }
  return null;
}

/** Whether a task can run, regardless of its hours. */
interface RunConditions {
  readonly enabled: boolean;
  readonly running: string | null;
  readonly tokens: { readonly today: number; readonly perDay: number };
  /** The next run (ms) per task, null if there is none; absent before any run is scheduled. */
  readonly nextRuns: ReadonlyMap<string, number | null>;
  readonly at: ObservationTime;
}

const WAIT_NOTES = {
  due: '; it is due',
  'not-yet': '',
  'out-of-hours': '; out of its hours now',
  done: '; it has already run for now',
} as const;

/**
 * Describes when a task runs next, and why it does not run now; `noChat` is the reason why no chat
 * can receive its alerts.
 */
function describeNextRun(
  { task, next: { kind } }: TaskOutlook,
  noChat: string | null,
  { at, enabled, running, tokens, nextRuns }: RunConditions,
): NextRunText {
  const none = (state: NextRunText['state'], text: string) => ({ state, at: null, text });
  if (running === task.name) return none('running', 'after this run');
  if (noChat !== null) return none('no-chat', `not yet: ${noChat}`);
  if (!enabled) return none('off', 'only when asked: the heartbeat is off');
  const next = nextRuns.get(task.name);
  if (next === null) {
    return none('no-run', 'no run falls into its hours in the next weeks; make them longer');
  }
  if (kind === 'due' && tokens.today >= tokens.perDay) {
    return none('no-tokens', `due, but today's ${tokens.perDay} tokens are used up: tomorrow`);
  }
  const time = next === undefined ? 'with the first run' : formatMoment(next, at.clock, at.now);
  return { state: kind, at: next ?? null, text: `${time}${WAIT_NOTES[kind]}` };
}

/**
 * The state file and the database table read the clock separately, so their times may differ by
 * this much (ms).
 */
const SAME_MS = 5_000;
const MAX_CHARACTERS = 160;

/**
 * Describes the result of a task's last run: `lastRun` is its start according to
 * heartbeat-state.json (ms), and `run` is the newest run in the table. If only the check ran,
 * `lastRun` is later.
 */
export function describeLastTaskRun(
  { check, tell }: Pick<StandingTask, 'check' | 'tell'>,
  lastRun: number | null,
  run: HeartbeatRun | undefined,
  at: ObservationTime,
): LastRun {
  if (lastRun !== null && lastRun > (run?.startedAt ?? 0) + SAME_MS) {
    const time = formatMoment(lastRun, at.clock, at.now);
    if (check === undefined) return { state: 'noted', at: lastRun, text: time };
    return { state: 'nothing-new', at: lastRun, text: `${time}, nothing new to look at` };
  }
  if (run === undefined) return { state: 'never', at: null, text: 'never' };
  return { state: run.state, at: run.startedAt, text: describeRun(run, tell, at) };
}

function describeRun(run: HeartbeatRun, tell: string | undefined, at: ObservationTime): string {
  return `${formatMoment(run.startedAt, at.clock, at.now)}, ${describeRunOutcome(run, tell, at)}`;
}

function describeRunOutcome(
  { state, reason, heldUntil }: HeartbeatRun,
  tell: string | undefined,
  at: ObservationTime,
): string {
  switch (state) {
    case 'waiting':
      return 'waits for the previous run';
    case 'running':
      return 'running now';
    case 'quiet':
      return 'nothing to report';
    case 'alerted':
      return tell === undefined ? 'sent to you' : `sent to ${tell}`;
    case 'held':
      return heldUntil === null
        ? 'held until the quiet hours are over'
        : `held until ${formatMoment(heldUntil, at.clock, at.now)}`;
    case 'repeated':
      return 'the same as before, so not sent again';
    case 'unclear':
      return `an unclear answer, not sent${formatInBrackets(reason)}`;
    case 'failed':
      return `failed${formatInBrackets(reason)}; not sent`;
  }
}

function formatInBrackets(reason: string | null): string {
  return reason === null ? '' : ` (${reason.replace(/\s+/g, ' ').slice(0, MAX_CHARACTERS)})`;
}

/** How many tasks are shown in full; only the names of further tasks are listed. */
const NAMED = 12;

const NO_TASKS = `There are no tasks, so the model is not called. Write them into HEARTBEAT.md of my workspace, or tell me what to look after. For example:

\`\`\`
## mail
- every: 30 min
- between: 9:00-21:00
- do: Look through new mail. Tell me of what cannot wait.
\`\`\``;

/** The report as the answer to `/heartbeat`. */
export function formatReport(report: HeartbeatReport): string {
  const { plan, tokens, tasks, problems, context } = report;
  const [first] = tasks;
  const names = tasks.slice(NAMED).map(({ name }) => formatInlineCode(name));
  const wrong = problems.map((one) => `- ${toLiteralLine(one)}`);
  const parts = [
    `**Heartbeat**: ${plan.text} (${toLiteralLine(formatZone(report))}).`,
    plan.lastSkip !== null && `The last run did not start a task: ${toLiteralLine(plan.lastSkip)}.`,
    first === undefined && problems.length === 0 && NO_TASKS,
    tasks.slice(0, NAMED).map(formatTask).join('\n'),
    names.length > 0 && `And ${names.join(', ')}.`,
    context !== undefined &&
      `HEARTBEAT.md has ${pluralize(context.split('\n').filter(Boolean).length, 'line')} outside the tasks, which every run receives.`,
    wrong.length > 0 && ['HEARTBEAT.md needs fixing:\n', ...wrong].join('\n'),
    first &&
      `Today: ${tokens.today} of ${tokens.perDay} tokens. ${formatInlineCode(`/heartbeat now ${first.name}`)} runs a task immediately.`,
  ];
  return parts.filter(Boolean).join('\n\n');
}

/** Formats the time zone, and its source if several were possible. */
function formatZone({
  timeZone,
  timeZoneFrom,
}: Pick<HeartbeatReport, 'timeZone' | 'timeZoneFrom'>): string {
  return timeZoneFrom === undefined ? timeZone : `${timeZone}, from ${timeZoneFrom}`;
}

/** Formats the report for a group, without the contents of the tasks. */
export function formatGroupReport({ plan, tasks }: HeartbeatReport): string {
  return `**Heartbeat**: ${plan.text}; ${pluralize(tasks.length, 'task')}. More in a direct chat.`;
}

function formatTask({ name, schedule, tell, last, next }: TaskReport): string {
  const to = tell === null ? '' : `, notifies ${toLiteralLine(tell)}`;
  return [
    `- **${toLiteralLine(name)}** – ${schedule}${to}`,
    `  - last: ${toLiteralLine(last.text)}`,
    `  - next: ${toLiteralLine(next.text)}`,
  ].join('\n');
}

/** Formats the line for `/status`. */
export function formatStatusLine(
  { settings, clock }: HeartbeatServices,
  { plan, tasks, problems, zone }: HeartbeatStatus,
): string {
  const now = clock();
  const nextAt = Math.max(plan?.nextAt ?? now, now);
  const next = `next ${formatMoment(nextAt, createZoneClock(zone.timeZone), now)}`;
  const known = tasks.length === 0 ? 'no tasks' : pluralize(tasks.length, 'task');
  const wrong =
    problems.length === 0 ? '' : `, ${pluralize(problems.length, 'problem')}: /heartbeat`;
  return `Heartbeat: ${settings.enabled ? next : 'off'}, ${known}${wrong}`;
}
