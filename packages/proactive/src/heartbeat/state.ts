import type { Logger } from '@parley/contracts';
import type { WorkspaceView } from '@parley/workspace';
import { z } from 'zod';
import { cadenceMinutes, STATE_FILE, type StandingTask } from './task.ts';

/** The state of one task. */
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

/** A state, and what had to be repaired in the file, in sentences. */
interface ReadState {
  readonly state: HeartbeatState;
  readonly repairs: readonly string[];
}

const Fields = z.record(z.string(), z.unknown());
const FILE = 'heartbeat-state.json';
/** A smaller number of ms would be in 1973 or earlier: it is one of seconds. */
const FIRST_MS = 100_000_000_000;
const LAST_MS = 8_640_000_000_000_000;

/** Reads the file; a damaged one gives a state and the list of repairs. */
export function readHeartbeatState(text: string): ReadState {
  const repairs: string[] = [];
  const file = objectIn(text, repairs);
  const { tasks: written, ...more } = file;
  const tasks = new Map<string, TaskState>();
  const entries = tasksOf(written, repairs);
  for (const [name, value] of entries) {
    const task = readTask(name, value, repairs);
    if (task !== null) tasks.set(name, task);
  }
  return { state: { tasks, more }, repairs };
}

/** The file for this state, readable: one line for each value. */
export function heartbeatStateText({ tasks, more }: HeartbeatState): string {
  const written = [...tasks].map(([name, { lastRun, cadenceMin, more: rest }]) => [
    name,
    {
      lastRun: lastRun === null ? null : new Date(lastRun).toISOString(),
      ...(cadenceMin !== null && { cadenceMin }),
      ...rest,
    },
  ]);
  return `${JSON.stringify({ tasks: Object.fromEntries(written), ...more }, null, 2)}\n`;
}

/** The state after a task started. */
export function withRun(
  state: HeartbeatState,
  name: string,
  run: { readonly at: number; readonly cadenceMin: number },
): HeartbeatState {
  const more = state.tasks.get(name)?.more ?? {};
  const task = { lastRun: run.at, cadenceMin: run.cadenceMin, more };
  return { ...state, tasks: new Map(state.tasks).set(name, task) };
}

/** When tasks last ran, by name; those that never did are left out. */
export function lastRunsOf({ tasks }: HeartbeatState): ReadonlyMap<string, number> {
  const runs = [...tasks].flatMap(([name, { lastRun }]) =>
    lastRun === null ? [] : [[name, lastRun] as const],
  );
  return new Map(runs);
}

function objectIn(text: string, repairs: string[]): Record<string, unknown> {
  const bare = text.replace(/^\ufeff/, '').trim();
  if (bare === '') return {};
  const parsed = Fields.safeParse(parsedJson(bare));
  if (parsed.success) return parsed.data;
  repairs.push(`${FILE} is not an object in JSON; it begins anew, as if no task had run.`);
  return {};
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller says that it is no JSON.
  }
}

function tasksOf(written: unknown, repairs: string[]): [string, unknown][] {
  if (written === undefined) return [];
  const parsed = Fields.safeParse(written);
  if (parsed.success) return Object.entries(parsed.data);
  repairs.push(`${FILE}: "tasks" is not an object; it begins anew, as if no task had run.`);
  return [];
}

function readTask(name: string, value: unknown, repairs: string[]): TaskState | null {
  const parsed = Fields.safeParse(value);
  if (!parsed.success) {
    repairs.push(`${FILE}: task ${name} is not an object; it counts as one that never ran.`);
    return null;
  }
  const { lastRun: run, cadenceMin: cadence, ...more } = parsed.data;
  const lastRun = momentOf(run);
  if (lastRun === undefined) {
    repairs.push(`${FILE}: "lastRun" of task ${name} is no time; it counts as one that never ran.`);
  }
  const isCadence = typeof cadence === 'number' && Number.isInteger(cadence) && cadence > 0;
  if (!isCadence && cadence !== undefined) {
    repairs.push(`${FILE}: "cadenceMin" of task ${name} is no whole number of minutes; left out.`);
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
/** The file is complete up to this run; later ones were lost with their process. */
const NOTED = 'noted';

export interface StateFile {
  /**
   * The state of the file. Runs of the database that the file lacks are added; later changes by a person
   * stay.
   */
  read(begun: ReadonlyMap<string, number>): Promise<HeartbeatState>;
  /** Records that a task started. A file that cannot be written is logged: the database knows, too. */
  began(
    state: HeartbeatState,
    task: StandingTask,
    at: number,
    more?: object,
  ): Promise<HeartbeatState>;
}

/** Opens the state file of a workspace, through the owner’s view. */
export function openStateFile(view: WorkspaceView, log: Logger): StateFile {
  let lastRepairs = '';
  return {
    async read(begun) {
      const file = await view.read(STATE_FILE, WHOLE_FILE);
      const { state, repairs } = readHeartbeatState(file.kind === 'file' ? file.text : '');
      const said = repairs.join(' ');
      if (said !== '' && said !== lastRepairs) log.warn({ repairs }, `${STATE_FILE} was mended`);
      lastRepairs = said;
      return withLostRuns(state, begun);
    },
    async began(state, task, at, more = {}) {
      const run = { at, cadenceMin: cadenceMinutes(task.cadence) };
      const after = (before: HeartbeatState): HeartbeatState =>
        noted(withRun(before, task.name, run), { task: task.name, at, more });
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
function withLostRuns(state: HeartbeatState, begun: ReadonlyMap<string, number>): HeartbeatState {
  const written = state.more[NOTED];
  const noted = typeof written === 'string' ? Date.parse(written) : Number.NaN;
  let next = state;
  for (const [name, at] of begun) {
    // Without the line the file is new, or another program's: then it has no runs.
    if (!Number.isNaN(noted) && at <= noted) continue;
    const cadenceMin = state.tasks.get(name)?.cadenceMin ?? null;
    const more = state.tasks.get(name)?.more ?? {};
    next = { ...next, tasks: new Map(next.tasks).set(name, { lastRun: at, cadenceMin, more }) };
  }
  return next;
}

function noted(
  state: HeartbeatState,
  { task, at, more }: { readonly task: string; readonly at: number; readonly more: object },
): HeartbeatState {
  const known = state.tasks.get(task);
  const tasks =
    known === undefined
      ? state.tasks
      : new Map(state.tasks).set(task, { ...known, more: { ...known.more, ...more } });
  return { tasks, more: { ...state.more, [NOTED]: new Date(at).toISOString() } };
}
