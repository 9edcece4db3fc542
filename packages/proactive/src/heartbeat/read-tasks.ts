import { HEARTBEAT_ROUTINES, type NewsCheck } from '@parley/core';
import { nearest } from '@parley/settings';
import { type DayWindow, WHOLE_DAY } from '../zone-clock.ts';
import { cutTasks, DEFAULT_CADENCE, type FileLine } from './cut-tasks.ts';
import {
  CADENCE_FORM,
  type Cadence,
  cadenceMinutes,
  FLOOR_MINUTES,
  quoted,
  readCadence,
  readWindow,
  type StandingTask,
  type TaskProblem,
  WINDOW_FORM,
  type WrittenCadence,
} from './task.ts';

/** What the one task of a file without tasks is called. */
export const PROSE_TASK = 'heartbeat';

interface ReadTasks {
  readonly tasks: readonly StandingTask[];
  readonly problems: readonly TaskProblem[];
}

/**
 * Reads HEARTBEAT.md (H02): `## name` with `- every:`, `- between:`, `- do:` or `- run:`, `- tell:`,
 * `- check:`.
 * A file without these keys is cut where it shows its tasks, else it is one task. Nothing but headings and comments
 * is none.
 */
export function readTasks(text: string): ReadTasks {
  const file = taskSections(text);
  const hasKeys = file.sections.some(({ lines }) =>
    lines.some((line) => !line.fenced && setsKey(line.text)),
  );
  if (hasKeys) return readSections(file);
  const tasks = cutTasks(fileLines(text))?.map((task) => ({
    ...task,
    cadence: raised(task.cadence),
  }));
  return tasks === undefined ? readProse(file) : { tasks, problems: [] };
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
    const { name, line } = section;
    const task = readSection(section, problems);
    if (tasks.some((known) => known.name === name)) {
      const expected = 'a name of its own for each task';
      problems.push({ line, task: name, found: name, expected, effect: 'task' });
    } else if (task !== null) tasks.push(task);
  }
  return { tasks, problems };
}

/** A file without any key: all its text is the instruction of one task. */
function readProse({ lead, sections }: Sections): ReadTasks {
  const lines = [
    ...lead,
    ...sections.flatMap(({ line, name, lines: own }) => [
      { number: line, text: `## ${name}` },
      ...own,
    ]),
  ];
  const first = lines.find(({ text }) => isWord(text));
  if (first === undefined) return { tasks: [], problems: [] };
  const text = lines.map((line) => line.text).join('\n');
  const task = {
    name: PROSE_TASK,
    line: first.number,
    cadence: DEFAULT_CADENCE,
    window: WHOLE_DAY,
    instruction: text.replace(/\n{3,}/g, '\n\n').trim(),
  };
  return { tasks: [task], problems: [] };
}

/** Whether a line says something: no heading, no rule, no empty item. */
function isWord(line: string): boolean {
  return !/^(?:#{1,6}(?:\s.*)?|-{3,}|[-*+](?:\s*\[[ xX]?\])?)?$/.test(line.trim());
}

/** The task of a section; null, with problems, where it is not understood. */
function readSection(section: TaskSection, problems: TaskProblem[]): StandingTask | null {
  const { name } = section;
  const fields = taskFields(section, problems);
  const known = problems.length;
  const addProblem = (
    field: TaskField | undefined,
    expected: string,
    effect: TaskProblem['effect'],
  ) => {
    const { line = section.line, text = '' } = field ?? {};
    problems.push({ task: name, line, found: quoted(text), expected, effect });
  };
  const fail: Fail = (field, expected) => addProblem(field, expected, 'task');
  if (name === '') fail(undefined, 'a name behind "##"');
  const every = fields.get('every');
  const { cadence = DEFAULT_CADENCE, at } = cadenceOf(every, fail) ?? {};
  const task: StandingTask = {
    name,
    line: section.line,
    cadence: raised(cadence),
    window: windowOf(fields, at, fail),
    ...workOf(fields, fail),
    ...namedGroup(fields.get('tell'), fail),
    ...checkOf(fields.get('check'), fail),
  };
  if (problems.length > known) return null;
  if (cadenceMinutes(task.cadence) > cadenceMinutes(cadence)) {
    addProblem(every, `at least ${FLOOR_MINUTES} min; it runs every ${FLOOR_MINUTES} min`, 'note');
  }
  return task;
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
  const routine = HEARTBEAT_ROUTINES.find((known) => known === name);
  if (routine === undefined) fail(run, `one of ${HEARTBEAT_ROUTINES.join(', ')}`);
  if (instruction !== '') fail(run, 'either "do" or "run", not both');
  if (fields.has('tell')) fail(fields.get('tell'), 'no "tell" beside "run", which sends nothing');
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

/** The hours of `between`; `daily at 3:00` starts then, and ends with these or with the day. */
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

function namedGroup(field: TaskField | undefined, fail: Fail): Pick<StandingTask, 'tell'> {
  if (field === undefined || field.text.toLowerCase() === 'owner') return {};
  if (field.text === '') fail(field, 'the name of a group, or no "tell" at all for the owner');
  return { tell: field.text };
}

function checkOf(field: TaskField | undefined, fail: Fail): { readonly check?: NewsCheck } {
  if (field === undefined) return {};
  const text = field.text.replace(/^`+|(?<!`)`+$/g, '').trim();
  if (/^https?:\/\//i.test(text) && URL.canParse(text))
    return { check: { kind: 'url', url: text } };
  if (text === '' || /^[a-z]+:\/\//i.test(text)) {
    fail(field, 'a command, or an address that begins with https://');
  }
  return { check: { kind: 'command', command: text } };
}

const TASK_KEYS = ['every', 'between', 'do', 'run', 'tell', 'check'] as const;
type TaskKey = (typeof TASK_KEYS)[number];

interface TaskField {
  readonly line: number;
  readonly text: string;
}

/** `- key: value`, with or without marks round the key; text of an instruction may look the same. */
const KEY_LINE = /^ {0,3}[-*+][ \t]+[*_`]*([A-Za-z][A-Za-z _-]{0,30}?)[*_`]*[ \t]*:[*_`]*(.*)$/;

/** A line that asks for nothing: blank, or a heading of another level. */
const NOTHING = /^\s*(?:#{1,6}(?:\s.*)?)?$/;

/** Whether a line sets a key: that is what makes a section a task and not prose. */
function setsKey(line: string): boolean {
  return keyOf(KEY_LINE.exec(line)?.[1] ?? '') !== undefined;
}

/** Reads the keys of a section. An instruction ends at the next key. */
function taskFields(
  { name, lines }: TaskSection,
  problems: TaskProblem[],
): ReadonlyMap<TaskKey, TaskField> {
  const open = new Map<TaskKey, { line: number; texts: string[] }>();
  let last: { line: number; texts: string[] } | undefined;
  const note = (line: number, found: string, expected: string, hint: { nearest?: string } = {}) => {
    problems.push({ line, task: name, found: quoted(found), expected, ...hint, effect: 'note' });
  };
  for (const { number, text, fenced } of lines) {
    const [, written = '', value = ''] = (fenced ? null : KEY_LINE.exec(text)) ?? [];
    const key = keyOf(written);
    if (key !== undefined) {
      last = { line: number, texts: [value.trim()] };
      if (open.has(key)) note(number, text, `"${key}" only once; the first one counts`);
      else open.set(key, last);
      continue;
    }
    const meant = written === '' ? undefined : nearest(written, TASK_KEYS);
    const isInstruction = last !== undefined && last === open.get('do');
    if (written !== '' && (!isInstruction || (meant !== undefined && written.length >= 4))) {
      note(number, written, `one of ${TASK_KEYS.join(', ')}`, meant ? { nearest: meant } : {});
      last = undefined;
    } else if (isInstruction) last?.texts.push(text);
    else if (!NOTHING.test(text))
      note(number, text, 'a line such as "- do: Look through new mail."');
  }
  return new Map([...open].map(([key, { line, texts }]) => [key, { line, text: joined(texts) }]));
}

/** Instructions keep their lines; what all but the first are indented by is taken off. */
function joined([first = '', ...others]: readonly string[]): string {
  const indents = others
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length);
  const indent = indents.length === 0 ? 0 : Math.min(...indents);
  return [first, ...others.map((line) => line.slice(indent))].join('\n').trim();
}

function keyOf(written: string): TaskKey | undefined {
  const simple = written.trim().toLowerCase();
  return TASK_KEYS.find((key) => key === simple);
}

interface TaskSection {
  readonly name: string;
  readonly line: number;
  readonly lines: readonly FileLine[];
}

interface Sections {
  readonly lead: readonly FileLine[];
  readonly sections: readonly TaskSection[];
}

/** Cuts the file at its headings of the second level. Comments are taken out, lines keep their numbers. */
function taskSections(text: string): Sections {
  const lead: FileLine[] = [];
  const sections: (TaskSection & { readonly lines: FileLine[] })[] = [];
  for (const line of fileLines(text)) {
    const name = line.fenced ? null : headingOf(line.text);
    if (name !== null) sections.push({ name, line: line.number, lines: [] });
    else (sections.at(-1)?.lines ?? lead).push(line);
  }
  return { lead, sections };
}

/** The text of a heading of the second level without marks round it, or null. */
function headingOf(line: string): string | null {
  const found = /^ {0,3}##[ \t]+(.*[^ \t#])?[ \t#]*$/.exec(line);
  return found === null
    ? null
    : (found[1] ?? '').replace(/^[*_`]+|(?<![*_`:])[*_`:]+$/g, '').trim();
}

function fileLines(text: string): FileLine[] {
  const plain = withoutComments(text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n'));
  let fence = '';
  return plain.split('\n').map((line, index) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    const fenced = fence !== '' || mark !== '';
    if (fence === '') fence = mark;
    else if (mark !== '' && mark.startsWith(fence) && line.trim() === mark) fence = '';
    return { number: index + 1, text: line, fenced };
  });
}

/** Line ends of comments stay, so that lines keep their numbers. A comment that is never closed is text. */
function withoutComments(text: string): string {
  const end = text.lastIndexOf('-->') + '-->'.length;
  const plain = text
    .slice(0, end)
    .replace(/<!--[\s\S]*?-->/g, (comment) => comment.replace(/[^\n]+/g, ''));
  return plain + text.slice(end);
}
