import type { Logger } from '@parley/core';
import type { WorkspaceView } from '@parley/workspace';
import { z } from 'zod';
import { PROSE_TASK } from './read-tasks.ts';
import { cadenceMinutes, OPENCLAW_STATE_FILE, STATE_FILE, type StandingTask } from './task.ts';

interface TaskState {
  /** When it last started (ms); null before the first run. */
  readonly lastRun: number | null;
  /** Its cadence in minutes then; null where the file has none. */
  readonly cadenceMin: number | null;
  /** Other fields, kept unchanged. */
  readonly more: Readonly<Record<string, unknown>>;
}

/** heartbeat-state.json (H02): readable, and a person may change it. */
export interface HeartbeatState {
  readonly tasks: ReadonlyMap<string, TaskState>;
  readonly more: Readonly<Record<string, unknown>>;
}

/** The file is complete up to this run; later ones were lost with their process. */
const NOTED = 'noted';
const Fields = z.record(z.string(), z.unknown());
/** A smaller number of ms would be in 1973 or earlier: it is one of seconds. */
const FIRST_MS = 100_000_000_000;
const LAST_MS = 8_640_000_000_000_000;

/** Reads the file; a damaged one gives a state and the list of repairs, in sentences. */
export function readHeartbeatState(text: string): {
  readonly state: HeartbeatState;
  readonly repairs: readonly string[];
} {
  const repairs: string[] = [];
  const fieldsOf = (value: unknown, repair: string): Record<string, unknown> => {
    const parsed = Fields.safeParse(value);
    if (!parsed.success) repairs.push(repair);
    return parsed.data ?? {};
  };
  const bare = text.replace(/^\ufeff/, '').trim();
  const { tasks: written = {}, ...more } = fieldsOf(
    bare === '' ? {} : parsedJson(bare),
    `${STATE_FILE} is not an object in JSON; it starts again, as if no task had run.`,
  );
  const entries = fieldsOf(
    written,
    `${STATE_FILE}: "tasks" is not an object; it starts again, as if no task had run.`,
  );
  const tasks = new Map<string, TaskState>();
  for (const [name, value] of Object.entries(entries)) {
    const task = readTask(name, value, repairs);
    if (task !== null) tasks.set(name, task);
  }
  return { state: { tasks, more }, repairs };
}

/** The file for this state, readable: one line for each value. */
export function heartbeatStateText({ tasks, more }: HeartbeatState): string {
  const written = [...tasks].map(([name, task]) => {
    const lastRun = task.lastRun === null ? null : new Date(task.lastRun).toISOString();
    const cadence = task.cadenceMin !== null && { cadenceMin: task.cadenceMin };
    return [name, { lastRun, ...cadence, ...task.more }];
  });
  return `${JSON.stringify({ tasks: Object.fromEntries(written), ...more }, null, 2)}\n`;
}

const NEVER_RAN: TaskState = { lastRun: null, cadenceMin: null, more: {} };

export function withTask(
  state: HeartbeatState,
  name: string,
  change: Partial<TaskState>,
): HeartbeatState {
  const task = { ...(state.tasks.get(name) ?? NEVER_RAN), ...change };
  return { ...state, tasks: new Map(state.tasks).set(name, task) };
}

/**
 * Takes over what other agents note, `lastChecks: { email: 1703275200 }` or the same without that key, for tasks that
 * have no run of their own yet: the words of the key are in the name of the task, or no other has its cadence.
 */
export function withChecks(
  state: HeartbeatState,
  tasks: readonly Pick<StandingTask, 'name' | 'cadence'>[],
): HeartbeatState {
  const checks = checksOf(state.more);
  let next = state;
  const take = (name: string, key: string | undefined) => {
    const check = key === undefined ? undefined : checks.get(key);
    if (key === undefined || check === undefined) return;
    checks.delete(key);
    next = withTask(next, name, { lastRun: check.lastRun });
  };
  const waiting = () =>
    tasks.filter(({ name }) => (next.tasks.get(name)?.lastRun ?? null) === null);
  for (const { name } of waiting()) {
    take(name, name === PROSE_TASK ? newestOf(checks) : keyFor(name, checks));
  }
  for (const { name, cadence } of waiting()) {
    const minutes = cadenceMinutes(cadence);
    const alike = waiting().filter((one) => cadenceMinutes(one.cadence) === minutes);
    const keys = [...checks].filter(([, { cadenceMin }]) => cadenceMin === minutes);
    if (alike.length === 1 && keys.length === 1) take(name, keys[0]?.[0]);
  }
  return next;
}

interface Check {
  readonly lastRun: number;
  readonly cadenceMin: unknown;
}

/** Far more than a hundred tasks have. */
const MOST_CHECKS = 1_000;

function checksOf(more: HeartbeatState['more']): Map<string, Check> {
  const { [NOTED]: _, lastChecks, ...flat } = more;
  const nested = Fields.safeParse(lastChecks);
  const entries = Object.entries(nested.success ? nested.data : flat).slice(0, MOST_CHECKS);
  return new Map(
    entries.flatMap(([key, written]) => {
      const { data: fields = { lastRun: written } } = Fields.safeParse(written);
      const lastRun = momentOf(fields.lastRun ?? fields.lastCheck);
      if (lastRun === null || lastRun === undefined) return [];
      return [[key, { lastRun, cadenceMin: fields.cadenceMin }] as const];
    }),
  );
}

/** The key with the same words, else the one with the most words that are all in the name. */
function keyFor(name: string, checks: ReadonlyMap<string, Check>): string | undefined {
  const inName = new Set(wordsOf(name));
  const fitting = [...checks.keys()]
    .map((key) => ({ key, words: wordsOf(key) }))
    .filter(({ words }) => words.length > 0 && words.every((word) => inName.has(word)));
  return fitting.toSorted((a, b) => b.words.length - a.words.length)[0]?.key;
}

/** `memoryReview`, `memory_reviews` and `Memory review` are the same words. */
function wordsOf(text: string): readonly string[] {
  const words = text
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return (words ?? []).map((word) => word.replace(/(?<=\p{L}{3})s$/u, ''));
}

function newestOf(checks: ReadonlyMap<string, Check>): string | undefined {
  return [...checks].toSorted(([, a], [, b]) => b.lastRun - a.lastRun)[0]?.[0];
}

/** When tasks last ran, by name; those that never did are left out. */
export function lastRunsOf({ tasks }: HeartbeatState): ReadonlyMap<string, number> {
  const runs = [...tasks].flatMap(([name, { lastRun }]) =>
    lastRun === null ? [] : [[name, lastRun] as const],
  );
  return new Map(runs);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller says that it is no JSON.
  }
}

function readTask(name: string, value: unknown, repairs: string[]): TaskState | null {
  const parsed = Fields.safeParse(value);
  if (!parsed.success) {
    repairs.push(`${STATE_FILE}: task ${name} is not an object; it counts as one that never ran.`);
    return null;
  }
  const { lastRun: run, cadenceMin: cadence, ...more } = parsed.data;
  const lastRun = momentOf(run);
  if (lastRun === undefined) {
    repairs.push(
      `${STATE_FILE}: "lastRun" of task ${name} is no time; it counts as one that never ran.`,
    );
  }
  const isCadence = typeof cadence === 'number' && Number.isInteger(cadence) && cadence > 0;
  if (!isCadence && cadence !== undefined) {
    repairs.push(
      `${STATE_FILE}: "cadenceMin" of task ${name} is no whole number of minutes; left out.`,
    );
  }
  return { lastRun: lastRun ?? null, cadenceMin: isCadence ? cadence : null, more };
}

/** A moment as text or as a number of ms or s; null if empty, undefined if invalid. */
function momentOf(written: unknown): number | null | undefined {
  if (written === null || written === undefined || written === '') return null;
  const number = typeof written === 'number' ? written : Number.NaN;
  const moment =
    typeof written === 'string' ? Date.parse(written) : number < FIRST_MS ? number * 1000 : number;
  return Number.isFinite(moment) && moment >= 0 && moment <= LAST_MS
    ? Math.round(moment)
    : undefined;
}

/** More than a hundred tasks need, in characters. */
const WHOLE_FILE = 1_000_000;

/** The state file of a workspace, through the owner’s view. */
export function openStateFile(view: WorkspaceView, log: Logger) {
  let lastRepairs = '';
  return {
    /** Runs of the database that the file lacks are added; later changes by a person stay. */
    async read(
      started: ReadonlyMap<string, number>,
      tasks: readonly StandingTask[],
    ): Promise<HeartbeatState> {
      const own = await view.read(STATE_FILE, WHOLE_FILE);
      const file = own.kind === 'file' ? own : await view.read(OPENCLAW_STATE_FILE, WHOLE_FILE);
      const { state, repairs } = readHeartbeatState(file.kind === 'file' ? file.text : '');
      const said = repairs.join(' ');
      if (said !== '' && said !== lastRepairs) log.warn({ repairs }, `${STATE_FILE} was repaired`);
      lastRepairs = said;
      return withChecks(withLostRuns(state, started), tasks);
    },
    /** Records that a task started. A file that cannot be written is logged: the database knows, too. */
    async started(
      state: HeartbeatState,
      { name, cadence }: StandingTask,
      at: number,
      more: object = {},
    ): Promise<HeartbeatState> {
      const after = (before: HeartbeatState): HeartbeatState => {
        const kept = { ...before.tasks.get(name)?.more, ...more };
        const run = { lastRun: at, cadenceMin: cadenceMinutes(cadence), more: kept };
        const { tasks, more: others } = withTask(before, name, run);
        return { tasks, more: { ...others, [NOTED]: new Date(at).toISOString() } };
      };
      let next = after(state);
      const written = await view.change(STATE_FILE, (text) => {
        // What a person has written since the state was read stays.
        const { state: today } = readHeartbeatState(text ?? '');
        next = after(withLostRuns(today, lastRunsOf(state)));
        return heartbeatStateText(next);
      });
      if (written.kind === 'refused') {
        log.warn({ reason: written.detail }, `${STATE_FILE} could not be written`);
      }
      return next;
    },
  };
}

/** Adds runs that started after the last recorded one. */
function withLostRuns(state: HeartbeatState, started: ReadonlyMap<string, number>): HeartbeatState {
  // Without the line the file is new, or another program's: then it has no runs.
  const noted = momentOf(state.more[NOTED]) ?? Number.NEGATIVE_INFINITY;
  let next = state;
  for (const [name, lastRun] of started) {
    if (lastRun > noted) next = withTask(next, name, { lastRun });
  }
  return next;
}
