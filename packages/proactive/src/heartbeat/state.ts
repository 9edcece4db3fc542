import { z } from 'zod';
import { PROSE_TASK } from './read-tasks.ts';
import { getCadenceMinutes, STATE_FILE, type StandingTask } from './task.ts';

interface TaskState {
  /** When the task last started (ms); null before its first run. */
  readonly lastRun: number | null;
  /** The task's cadence at that time, in minutes; null if the file does not contain one. */
  readonly cadenceMin: number | null;
  /**
   * Other fields, which are written back unchanged. `was` holds invalid values that were found in
   * place of the fields above.
   */
  readonly more: StateFields;
}

/**
 * The content of heartbeat-state.json (H02). The file is human-readable, and people may edit it.
 * Writing it preserves everything that was read (H11).
 */
export interface HeartbeatState {
  readonly tasks: ReadonlyMap<string, TaskState>;
  readonly more: StateFields;
}

type StateFields = Readonly<Record<string, unknown>>;
const StateFields = z.record(z.string(), z.unknown());
/** The file contains all runs up to this one; later runs were lost with their process. */
export const NOTED = 'noted';
/**
 * The key for Parley's tasks in a file whose `tasks` has another meaning, such as the last run of a
 * check with that name.
 */
const BESIDE = 'parleyTasks';
/** A smaller number would be in 1973 or earlier if it were in ms, so it is in seconds. */
const FIRST_MS = 100_000_000_000;
const LAST_MS = 8_640_000_000_000_000;

/**
 * Parses the state file of Parley or another agent. `repairs` describes, in sentences, invalid
 * entries that belong to Parley.
 */
export function readHeartbeatState(text: string): {
  readonly state: HeartbeatState;
  readonly repairs: readonly string[];
} {
  const repairs: string[] = [];
  const bare = text.replace(/^\ufeff/, '').trim();
  const json = bare === '' ? {} : parseLenientJson(bare);
  const list = z.array(StateFields).safeParse(json).data;
  const parsed = StateFields.safeParse(list === undefined ? json : { tasks: list });
  if (!parsed.success) {
    repairs.push(
      `${STATE_FILE} is not a JSON object; a new state is started, and the old text is kept.`,
    );
  }
  const file = parsed.data ?? { unread: parseLenientJson(bare) ?? bare };
  const { [findTasksKey(file)]: written = {}, ...more } = file;
  const tasks = new Map<string, TaskState>();
  for (const [name, value] of Object.entries(StateFields.parse(written))) {
    tasks.set(name, readTask(name, value, repairs));
  }
  return { state: { tasks, more }, repairs };
}

/**
 * An entry contains its times directly (`{"lastRun": …}`); only a list of tasks contains further
 * entries.
 */
function findTasksKey({ tasks = {}, [BESIDE]: beside }: StateFields): string {
  const fields = StateFields.safeParse(tasks).data;
  const isEntry = fields === undefined || Object.keys(fields).some((key) => ENTRY_KEY.test(key));
  return isEntry || beside !== undefined ? BESIDE : 'tasks';
}

/** Formats the content of the file for a state: human-readable JSON with one line per value. */
export function formatHeartbeatState({ tasks, more }: HeartbeatState): string {
  const written = [...tasks].map(([name, task]) => {
    const lastRun = task.lastRun === null ? null : new Date(task.lastRun).toISOString();
    const cadence = task.cadenceMin !== null && { cadenceMin: task.cadenceMin };
    return [name, { lastRun, ...cadence, ...task.more }];
  });
  const key = 'tasks' in more ? BESIDE : 'tasks';
  return `${JSON.stringify({ [key]: Object.fromEntries(written), ...more }, null, 2)}\n`;
}

const NEVER_RAN: TaskState = { lastRun: null, cadenceMin: null, more: {} };

export function updateTask(
  state: HeartbeatState,
  name: string,
  change: Partial<TaskState>,
): HeartbeatState {
  const task = { ...(state.tasks.get(name) ?? NEVER_RAN), ...change };
  return { ...state, tasks: new Map(state.tasks).set(name, task) };
}

/**
 * Imports other agents' records, such as `lastChecks: { email: 1703275200 }` or the same without
 * that key, for tasks that do not have a run yet. An entry belongs to a task if the words in its
 * key occur in the task's name, or if no other task has the same cadence.
 */
export function importChecks(
  state: HeartbeatState,
  tasks: readonly Pick<StandingTask, 'name' | 'cadence'>[],
): HeartbeatState {
  const names = new Set(tasks.map(({ name }) => name));
  // Once Parley has written the file, other entries are Parley's own former tasks.
  const isForeign = state.more[NOTED] === undefined;
  const others = [...state.tasks].filter(([name]) => isForeign && !names.has(name));
  const checks = new Map([...readChecks(state.more), ...readChecks(Object.fromEntries(others))]);
  let next = state;
  const take = ({ name, cadence }: (typeof tasks)[number], key: string | undefined) => {
    const check = key === undefined ? undefined : checks.get(key);
    if (key === undefined || check === undefined) return;
    checks.delete(key);
    next = updateTask(next, name, {
      lastRun: check.lastRun,
      cadenceMin: getCadenceMinutes(cadence),
    });
  };
  const waiting = () =>
    tasks.filter(({ name }) => (next.tasks.get(name)?.lastRun ?? null) === null);
  for (const task of waiting()) {
    take(
      task,
      task.name === PROSE_TASK ? findNewestCheck(checks) : findMatchingCheckKey(task.name, checks),
    );
  }
  for (const task of waiting()) {
    const minutes = getCadenceMinutes(task.cadence);
    const alike = waiting().filter((one) => getCadenceMinutes(one.cadence) === minutes);
    const keys = [...checks].filter(([, { cadenceMin }]) => cadenceMin === minutes);
    if (alike.length === 1 && keys.length === 1) take(task, keys[0]?.[0]);
  }
  return next;
}

interface ImportedCheck {
  readonly lastRun: number;
  readonly cadenceMin: unknown;
}

/** The maximum number of entries, which is far more than a hundred tasks have. */
const MAX_CHECKS = 1_000;
/** A moment in 2001; smaller numbers are not timestamps. */
const FIRST_CHECK_MS = 1_000_000_000_000;

const MAX_DEPTH = 3;

/**
 * Reads `{"email": 1703275200}` or `{"email": {"lastRun": …}}`, also below keys such as
 * `lastChecks`, or in a list.
 */
function readChecks({ [NOTED]: _, ...more }: StateFields, depth = 1): Map<string, ImportedCheck> {
  const checks = Object.entries(more)
    .slice(0, MAX_CHECKS)
    .flatMap(([key, written]): (readonly [string, ImportedCheck])[] => {
      const fields =
        StateFields.safeParse(Array.isArray(written) ? { ...written } : written).data ?? {};
      const time = Object.keys(fields).find((name) => TIME_KEY.test(name));
      const lastRun = readMoment(time === undefined ? written : fields[time]) ?? 0;
      const { name = fields.id ?? fields.task, cadenceMin } = fields;
      const title = typeof name === 'string' ? name : key;
      if (lastRun >= FIRST_CHECK_MS) return [[title, { lastRun, cadenceMin }]];
      return depth < MAX_DEPTH ? [...readChecks(fields, depth + 1)] : [];
    });
  return new Map(checks);
}

/**
 * Returns the key with the same words, or else the key with the most words that all occur in the
 * name.
 */
function findMatchingCheckKey(
  name: string,
  checks: ReadonlyMap<string, ImportedCheck>,
): string | undefined {
  const inName = new Set(splitNameWords(name));
  const fitting = [...checks.keys()]
    .map((key) => ({ key, words: splitNameWords(key) }))
    .filter(({ words }) => words.length > 0 && words.every((word) => inName.has(word)));
  return fitting.toSorted((a, b) => b.words.length - a.words.length)[0]?.key;
}

/** Words with the same meaning in the names that other agents use for checks. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/e-?mails?|mails?|inbox|邮件|邮箱|收件箱|posteingang|courriels?|correos?/giu, ' email '],
  [/calendars?|events?|日历|日程|kalender|termine|calendrier|calendario/giu, ' calendar '],
  [/tasks?|todos?|任务|待办|aufgaben|tâches|tareas/giu, ' task '],
  [/systems?|系统|systeme/giu, ' system '],
  [/memor(?:y|ies)|记忆|gedächtnis|mémoire|memoria/giu, ' memory '],
  [/weather|天气|wetter|météo|clima|tiempo/giu, ' weather '],
  [/news|新闻|nachrichten|nouvelles|noticias/giu, ' new '],
];

/**
 * Returns the words in a name. `memoryReview`, `memory_reviews` and `Memory review` give the same
 * result; `last` and `check` are dropped.
 */
function splitNameWords(text: string): readonly string[] {
  const spaced = text.replace(/(?<=\p{Ll})(?=\p{Lu})|_/gu, ' ');
  const meant = MEANINGS.reduce((all, [words, meaning]) => all.replace(words, meaning), spaced);
  const words = meant.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const plain = words.map((word) => word.replace(/(?<=\p{L}{3})s$/u, ''));
  return plain.filter((word) => !/^(?:last|check(?:ed)?|run|at|time)$/.test(word));
}

function findNewestCheck(checks: ReadonlyMap<string, ImportedCheck>): string | undefined {
  return [...checks].toSorted(([, a], [, b]) => b.lastRun - a.lastRun)[0]?.[0];
}

/** Returns the last run of each task, by name; leaves out tasks that never ran. */
export function listLastRuns({ tasks }: HeartbeatState): ReadonlyMap<string, number> {
  const runs = [...tasks].flatMap(([name, { lastRun }]) =>
    lastRun === null ? [] : [[name, lastRun] as const],
  );
  return new Map(runs);
}

/** Parses JSON with line comments and trailing commas, as people write it. */
function parseLenientJson(text: string): unknown {
  const lenient = text.replace(/^\s*\/\/.*$/gm, '').replace(/,(?=\s*[}\]])/g, '');
  for (const one of [text, lenient]) {
    try {
      return JSON.parse(one);
    } catch {
      // The caller reports text that is not JSON.
    }
  }
  return undefined;
}

const TIME_KEY =
  /^(?:last(?:_?(?:run|check(?:ed)?|exec\w*|time|seen))?(?:_?at)?(?:_?ms)?|timestamp)$/i;
const ENTRY_KEY = new RegExp(`${TIME_KEY.source}|^cadenceMin$`, 'i');

function readTask(name: string, value: unknown, repairs: string[]): TaskState {
  const fields = StateFields.safeParse(value).data ?? { lastRun: value };
  const time = Object.keys(fields).find((key) => TIME_KEY.test(key));
  const { lastRun: run = time && fields[time], cadenceMin: cadence, ...more } = fields;
  const lastRun = readMoment(run);
  const isCadence = typeof cadence === 'number' && Number.isInteger(cadence) && cadence > 0;
  const was = {
    ...(lastRun === undefined && { lastRun: run }),
    ...(cadence !== undefined && !isCadence && { cadenceMin: cadence }),
  };
  const isNever = run === false || (typeof run === 'string' && /^never$/i.test(run));
  if (Object.keys(was).length > 0 && !isNever) {
    repairs.push(
      `${STATE_FILE}: ${JSON.stringify(was).slice(0, 80)} of task ${name} is neither a time nor a number of minutes; it is kept as "was" and ignored.`,
    );
  }
  const kept = Object.keys(was).length === 0 ? more : { ...more, was };
  return { lastRun: lastRun ?? null, cadenceMin: isCadence ? cadence : null, more: kept };
}

/** Parses a moment given as text or as a number of ms or s; null if empty, undefined if invalid. */
function readMoment(written: unknown): number | null | undefined {
  if (written === null || written === undefined || written === '' || written === 0) return null;
  const isNumber =
    typeof written === 'number' ||
    (typeof written === 'string' && /^\d{9,}(?:\.\d+)?$/.test(written));
  const number = isNumber ? Number(written) : Number.NaN;
  const moment =
    !isNumber && typeof written === 'string'
      ? Date.parse(written)
      : number < FIRST_MS
        ? number * 1000
        : number;
  return Number.isFinite(moment) && moment >= 0 && moment <= LAST_MS
    ? Math.round(moment)
    : undefined;
}

/** Adds runs that started after the last run in the file. */
export function addMissingRuns(
  state: HeartbeatState,
  runs: Iterable<readonly [name: string, run: Partial<TaskState>]>,
): HeartbeatState {
  // Without this entry, the file is new or belongs to another program, so it does not contain runs
  // by Parley.
  const noted = readMoment(state.more[NOTED]) ?? Number.NEGATIVE_INFINITY;
  let next = state;
  for (const [name, { lastRun = null, cadenceMin = null }] of runs) {
    if (lastRun === null || lastRun <= noted) continue;
    next = updateTask(next, name, { lastRun, ...(cadenceMin !== null && { cadenceMin }) });
  }
  return next;
}
