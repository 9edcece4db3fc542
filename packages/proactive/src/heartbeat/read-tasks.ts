import { BEAT_ROUTINES } from '@parley/contracts';
import { type DayWindow, WHOLE_DAY } from '../clock/day-window.ts';
import {
  CADENCE_FORM,
  readCadence,
  readWindow,
  WINDOW_FORM,
  type WrittenCadence,
} from './read-times.ts';
import {
  type Cadence,
  cadenceMinutes,
  FLOOR_MINUTES,
  type PreCheck,
  type StandingTask,
} from './standing-task.ts';
import { setsKey, type TaskField, type TaskKey, taskFields } from './task-fields.ts';
import { quoted, type TaskProblem } from './task-problem.ts';
import { type Sections, type TaskSection, taskSections } from './task-sections.ts';

/** How often it runs if it does not say. */
const DEFAULT_CADENCE: Cadence = { kind: 'minutes', minutes: 30 };
/** What the one task of a file without tasks is called. */
export const PROSE_TASK = 'heartbeat';

/** What HEARTBEAT.md asks for, and what of it was not understood. */
export interface ReadTasks {
  readonly tasks: readonly StandingTask[];
  readonly problems: readonly TaskProblem[];
}

/**
 * Reads HEARTBEAT.md (H02): `## name` with `- every:`, `- between:`, `- do:` or `- run:`, `- tell:`,
 * `- check:`.
 * A file of plain words is one task. Nothing but headings and comments is none.
 */
export function readTasks(text: string): ReadTasks {
  const file = taskSections(text);
  const hasKeys = file.sections.some(({ lines }) =>
    lines.some((line) => !line.fenced && setsKey(line.text)),
  );
  return hasKeys ? readSections(file) : readProse(file);
}

function readSections({ lead, sections }: Sections): ReadTasks {
  const tasks: StandingTask[] = [];
  const problems: TaskProblem[] = [];
  const stray = lead.find((line) => isWord(line.text));
  if (stray !== undefined) {
    const expected = 'a task that begins with "## name"; this line belongs to none';
    problems.push({ line: stray.number, found: quoted(stray.text), expected, effect: 'note' });
  }
  for (const section of sections) {
    const read = readSection(section);
    const isTaken = tasks.some(({ name }) => name === section.name);
    const task = isTaken ? undefined : read.task;
    if (task !== undefined) tasks.push(task);
    problems.push(...read.problems);
    if (isTaken) {
      const expected = 'a name of its own for each task';
      problems.push({ ...placeOf(section), found: section.name, expected, effect: 'task' });
    }
  }
  return { tasks, problems };
}

/** A file without any key: all its words are the instruction of one task. */
function readProse({ lead, sections }: Sections): ReadTasks {
  const lines = [
    ...lead,
    ...sections.flatMap((section) => [
      { number: section.line, text: `## ${section.name}` },
      ...section.lines,
    ]),
  ];
  const first = lines.find((line) => isWord(line.text));
  if (first === undefined) return { tasks: [], problems: [] };
  const instruction = lines
    .map((line) => line.text)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  const task = {
    name: PROSE_TASK,
    line: first.number,
    cadence: DEFAULT_CADENCE,
    window: WHOLE_DAY,
  };
  return { tasks: [{ ...task, instruction }], problems: [] };
}

/** Whether a line says something: no heading, no rule, no empty item. */
function isWord(line: string): boolean {
  return !/^\s*(?:#{1,6}(?:\s.*)?|-{3,}|[-*+](?:\s*\[[ xX]?\])?)?\s*$/.test(line);
}

function placeOf({ name, line }: TaskSection) {
  return { line, task: name };
}

function readSection(section: TaskSection): {
  readonly task?: StandingTask;
  readonly problems: readonly TaskProblem[];
} {
  const { fields, problems: notes } = taskFields(section);
  const problems = [...notes];
  const fail = (field: TaskField | undefined, expected: string) => {
    const found = quoted(field?.text ?? '');
    const line = field?.line ?? section.line;
    problems.push({ ...placeOf(section), line, found, expected, effect: 'task' });
  };
  const before = problems.length;
  if (section.name === '') fail(undefined, 'a name behind "##"');
  const written = cadenceOf(fields.get('every'), fail);
  const window = windowOf(fields, written?.at, fail);
  const work = workOf(fields, fail);
  const tell = namedGroup(fields.get('tell'), fail);
  const check = checkOf(fields.get('check'), fail);
  if (problems.length > before) return { problems };
  const cadence = raised(written?.cadence ?? DEFAULT_CADENCE);
  if (cadenceMinutes(cadence) > cadenceMinutes(written?.cadence ?? DEFAULT_CADENCE)) {
    const { line = section.line, text = '' } = fields.get('every') ?? {};
    const expected = `at least ${FLOOR_MINUTES} min; it runs every ${FLOOR_MINUTES} min`;
    problems.push({ ...placeOf(section), line, found: quoted(text), expected, effect: 'note' });
  }
  const { name, line } = section;
  const task: StandingTask = {
    ...{ name, line, cadence, window, ...work },
    ...(tell !== undefined && { tell }),
    ...(check !== undefined && { check }),
  };
  return { task, problems };
}

type Fail = (field: TaskField | undefined, expected: string) => void;

/** What `do` says, or the built-in work that `run` names. */
function workOf(
  fields: ReadonlyMap<TaskKey, TaskField>,
  fail: Fail,
): Pick<StandingTask, 'instruction' | 'routine'> {
  const [written, run] = [fields.get('do'), fields.get('run')];
  const instruction = written?.text ?? '';
  if (run === undefined) {
    if (instruction === '') fail(written, 'what to do, as "- do: Look through new mail."');
    return { instruction };
  }
  const name = run.text.replace(/[`"]/g, '').trim().toLowerCase();
  const routine = BEAT_ROUTINES.find((known) => known === name);
  if (routine === undefined) fail(run, `one of ${BEAT_ROUTINES.join(', ')}`);
  if (instruction !== '') fail(run, 'either "do" or "run", not both');
  if (fields.has('tell')) fail(fields.get('tell'), 'no "tell" beside "run", which tells nobody');
  return { instruction: `(built in: ${name})`, ...(routine !== undefined && { routine }) };
}

function raised(cadence: Cadence): Cadence {
  const isTooOften = cadence.kind === 'minutes' && cadence.minutes < FLOOR_MINUTES;
  return isTooOften ? { kind: 'minutes', minutes: FLOOR_MINUTES } : cadence;
}

function cadenceOf(field: TaskField | undefined, fail: Fail): WrittenCadence | undefined {
  if (field === undefined) return undefined;
  const cadence = readCadence(field.text);
  if (cadence === null) fail(field, `how often, ${CADENCE_FORM}`);
  return cadence ?? undefined;
}

/** The hours of `between`; `daily at 3:00` begins then, and goes on to the end of these or of the day. */
function windowOf(
  fields: ReadonlyMap<TaskKey, TaskField>,
  at: number | undefined,
  fail: Fail,
): DayWindow {
  const field = fields.get('between');
  const hours = field === undefined ? WHOLE_DAY : readWindow(field.text);
  if (field !== undefined && hours === null) fail(field, WINDOW_FORM);
  const window = hours ?? WHOLE_DAY;
  if (at === undefined) return window;
  const crosses = window.to < window.from;
  const isIn = crosses ? at >= window.from || at < window.to : at >= window.from && at < window.to;
  if (!isIn && field !== undefined) fail(field, 'hours that the time of "every" lies in');
  return { from: at, to: window.to };
}

function namedGroup(field: TaskField | undefined, fail: Fail): string | undefined {
  if (field?.text.toLowerCase() === 'owner') return undefined;
  if (field?.text === '') fail(field, 'the name of a group, or no "tell" at all for the owner');
  return field?.text;
}

function checkOf(field: TaskField | undefined, fail: Fail): PreCheck | undefined {
  if (field === undefined) return undefined;
  const text = field.text.replace(/^`+|`+$/g, '').trim();
  if (!/^[a-z]+:\/\//i.test(text) && text !== '') return { kind: 'command', command: text };
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return { kind: 'url', url: text };
  fail(field, 'a command, or an address that begins with https://');
  return undefined;
}
