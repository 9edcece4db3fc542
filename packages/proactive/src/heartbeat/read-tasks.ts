import { HEARTBEAT_ROUTINES, type NewsCheck } from '@parley/core';
import { findNearestWord } from '@parley/settings';
import { type DayRule, type DayWindow, WHOLE_DAY } from '../zone-clock.ts';
import { extractTasks, type ParsedTasks, PROSE_TASK } from './cut-tasks.ts';
import { type FileLine, isDoneTitle, isStruckThrough } from './outline.ts';
import {
  CADENCE_FORM,
  DEFAULT_CADENCE,
  FLOOR_MINUTES,
  type ParsedCadence,
  parseCadence,
  parseDayWindow,
  type StandingTask,
  shortenName,
  type TaskProblem,
  WINDOW_FORM,
} from './task.ts';
import { isOnlyTime, parseTimes, toSchedule } from './times.ts';

export { PROSE_TASK };

/**
 * Reads HEARTBEAT.md (H02): `## name` with `- every:`, `- between:`, `- do:` or `- run:`, and `-
 * tell:`, `- check:`. A file without these keys was written for another agent. `firstLine` is above
 * 1 if front matter precedes the text.
 */
export function parseHeartbeatTasks(text: string, firstLine = 1): ParsedTasks {
  const lines = splitFileLines(text, firstLine);
  const file = splitSections(lines);
  if (file.sections.some(isParleySection)) return readSections(file);
  const { tasks, problems, ...more } = extractTasks(lines);
  const notes = [...problems];
  return { ...more, tasks: tasks.map((task) => raiseInterval(task, notes)), problems: notes };
}

/** Whether a file is in Parley's form rather than another agent's. */
export function isParleyFormat(text: string): boolean {
  return splitSections(splitFileLines(text, 1)).sections.some(isParleySection);
}

/**
 * Whether a section uses keys as Parley defines them; `Check:` and `Every:` also occur in other
 * files.
 */
function isParleySection({ lines }: TaskSection): boolean {
  const words = lines.filter(({ text }) => !NOTHING.test(text));
  const keys = words.map(({ text, fenced }) => (fenced ? undefined : parseField(text)));
  const isWork = ({ key, value }: ParsedField) =>
    key === 'do' || (key === 'run' && !/\s/.test(value));
  const isTime = ({ key }: ParsedField) => key === 'every' || key === 'between';
  const set = keys.filter((one) => one !== undefined);
  return set.some(isWork) || (set.some(isTime) && set.length === words.length);
}

function readSections({ lead, sections }: FileSections): ParsedTasks {
  const tasks: StandingTask[] = [];
  const problems: TaskProblem[] = [];
  const stray = lead.find((line) => hasContent(line.text));
  if (stray !== undefined) {
    const expected = 'a task that begins with "## name"; this line does not belong to a task';
    problems.push({ line: stray.number, found: shortenName(stray.text), expected, effect: 'note' });
  }
  for (const section of sections) {
    const { name, line, lines } = section;
    const hasKeys = lines.some(({ text }) => parseField(text) !== undefined);
    if (isStruckThrough(name) || (isDoneTitle(name) && !hasKeys)) continue;
    const task = readSection(section, problems);
    if (tasks.some((known) => known.name === name)) {
      const expected = 'a different name for each task';
      problems.push({ line, task: name, found: name, expected, effect: 'task' });
    } else if (task !== null) tasks.push(task);
  }
  return { tasks, problems };
}

/** Whether a line has content, rather than being a heading, a rule or an empty item. */
function hasContent(line: string): boolean {
  return !/^(?:#{1,6}(?:\s.*)?|-{3,}|[-*+](?:\s*\[[ xX]?\])?)?$/.test(line.trim());
}

/** Parses the task in a section; null, with problems added, if it is not valid. */
function readSection(section: TaskSection, problems: TaskProblem[]): StandingTask | null {
  const { name } = section;
  const fields = readTaskFields(section, problems);
  const known = problems.length;
  const addProblem = (
    field: TaskField | undefined,
    expected: string,
    effect: TaskProblem['effect'],
  ) => {
    const { line = section.line, text = '' } = field ?? {};
    problems.push({ task: name, line, found: shortenName(text), expected, effect });
  };
  const fail: ReportProblem = (field, expected) => addProblem(field, expected, 'task');
  if (name === '') fail(undefined, 'a name after "##"');
  const every = fields.get('every');
  const { cadence = DEFAULT_CADENCE, ...times } = parseEveryField(every, fail) ?? {};
  const task: StandingTask = {
    name,
    line: section.line,
    cadence,
    window: readDayWindow(fields, times, fail),
    ...readTaskWork(fields, fail),
    ...readTellField(fields.get('tell'), fail),
    ...readCheckField(fields.get('check'), fail),
  };
  return problems.length > known ? null : raiseInterval(task, problems, every);
}

type ReportProblem = (field: TaskField | undefined, expected: string) => void;

/** Reads the text of `do`, or the built-in routine named by `run`. */
function readTaskWork(
  fields: ReadonlyMap<TaskKey, TaskField>,
  fail: ReportProblem,
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
  if (fields.has('tell'))
    fail(fields.get('tell'), 'no "tell" together with "run", which sends nothing');
  return { instruction: `(built in: ${name})`, ...(routine !== undefined && { routine }) };
}

/** Raises an interval to the minimum that H01 allows. */
function raiseInterval(
  task: StandingTask,
  problems: TaskProblem[],
  every?: TaskField,
): StandingTask {
  const { cadence, name, line } = task;
  if (cadence.kind !== 'minutes' || cadence.minutes >= FLOOR_MINUTES) return task;
  const found = shortenName(every?.text ?? `every ${cadence.minutes} min`);
  const expected = `at least ${FLOOR_MINUTES} min; it runs every ${FLOOR_MINUTES} min`;
  problems.push({ line: every?.line ?? line, task: name, found, expected, effect: 'note' });
  return { ...task, cadence: { kind: 'minutes', minutes: FLOOR_MINUTES } };
}

/**
 * Parses `30 min`, `daily at 3:00`, and days of the week or month such as `Monday at 10:00` or
 * `weekdays`.
 */
function parseEveryField(
  field: TaskField | undefined,
  fail: ReportProblem,
): ParsedEvery | undefined {
  if (field === undefined) return undefined;
  const cadence = parseCadence(field.text);
  if (cadence !== null) return cadence;
  const read = parseTimes(`every ${field.text.replace(/^every\s+/i, '')}`);
  const { hours, unclear, ...times } = read?.times ?? {};
  if (read === null || !isOnlyTime(read.rest) || (hours ?? unclear) !== undefined) {
    fail(field, `how often, ${CADENCE_FORM}`);
    return undefined;
  }
  return { ...times, cadence: toSchedule(times).schedule.cadence };
}

interface ParsedEvery extends ParsedCadence {
  readonly on?: DayRule;
}

/**
 * Parses the hours in `between`. For `daily at 3:00`, the hours start at that time, and end as
 * given or at the end of the day.
 */
function readDayWindow(
  fields: ReadonlyMap<TaskKey, TaskField>,
  { at, on }: Omit<ParsedEvery, 'cadence'>,
  fail: ReportProblem,
): DayWindow {
  const field = fields.get('between');
  const hours = field === undefined ? WHOLE_DAY : parseDayWindow(field.text);
  if (field !== undefined && hours === null) fail(field, WINDOW_FORM);
  const window = { ...(hours ?? WHOLE_DAY), ...(on !== undefined && { on }) };
  if (at === undefined) return window;
  const crosses = window.to < window.from;
  const isIn = crosses ? at >= window.from || at < window.to : at >= window.from && at < window.to;
  if (!isIn && field !== undefined) fail(field, 'hours that include the time in "every"');
  return { ...window, from: at };
}

function readTellField(
  field: TaskField | undefined,
  fail: ReportProblem,
): Pick<StandingTask, 'tell'> {
  if (field === undefined || field.text.toLowerCase() === 'owner') return {};
  if (field.text === '') fail(field, 'the name of a group, or no "tell" at all for the owner');
  return { tell: field.text };
}

function readCheckField(
  field: TaskField | undefined,
  fail: ReportProblem,
): { readonly check?: NewsCheck } {
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

/**
 * Matches `- key: value`, with or without marks around the key. A line in an instruction may have
 * the same form.
 */
const KEY_LINE = /^ {0,3}[-*+][ \t]+[*_`]*([A-Za-z][A-Za-z _-]{0,30}?)[*_`]*[ \t]*:[*_`]*(.*)$/;

/** Matches a line without an instruction: a blank line, or a heading of another level. */
const NOTHING = /^\s*(?:#{1,6}(?:\s.*)?)?$/;

interface ParsedField {
  readonly key: TaskKey;
  readonly value: string;
}

function parseField(line: string): ParsedField | undefined {
  const [, written = '', value = ''] = KEY_LINE.exec(line) ?? [];
  const key = TASK_KEYS.find((one) => one === written.trim().toLowerCase());
  return key === undefined ? undefined : { key, value: value.trim() };
}

/** Parses the keys in a section. An instruction ends at the next key. */
function readTaskFields(
  { name, lines }: TaskSection,
  problems: TaskProblem[],
): ReadonlyMap<TaskKey, TaskField> {
  const open = new Map<TaskKey, { line: number; texts: string[] }>();
  let last: { line: number; texts: string[] } | undefined;
  const note = (line: number, found: string, expected: string, hint: { nearest?: string } = {}) => {
    problems.push({
      line,
      task: name,
      found: shortenName(found),
      expected,
      ...hint,
      effect: 'note',
    });
  };
  for (const { number, text, fenced } of lines) {
    const [, written = ''] = (fenced ? null : KEY_LINE.exec(text)) ?? [];
    const { key, value = '' } = (fenced ? undefined : parseField(text)) ?? {};
    if (key !== undefined) {
      last = { line: number, texts: [value] };
      if (open.has(key)) note(number, text, `"${key}" only once; the first one counts`);
      else open.set(key, last);
      continue;
    }
    const meant = written === '' ? undefined : findNearestWord(written, TASK_KEYS);
    const isInstruction = last !== undefined && last === open.get('do');
    if (written !== '' && (!isInstruction || (meant !== undefined && written.length >= 4))) {
      note(number, written, `one of ${TASK_KEYS.join(', ')}`, meant ? { nearest: meant } : {});
      last = undefined;
    } else if (isInstruction) last?.texts.push(text);
    else if (!NOTHING.test(text))
      note(number, text, 'a line such as "- do: Look through new mail."');
  }
  return new Map(
    [...open].map(([key, { line, texts }]) => [key, { line, text: joinInstruction(texts) }]),
  );
}

/** Joins the lines of an instruction, without the common indent of all but the first. */
function joinInstruction([first = '', ...others]: readonly string[]): string {
  const indents = others
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length);
  const indent = indents.length === 0 ? 0 : Math.min(...indents);
  return [first, ...others.map((line) => line.slice(indent))].join('\n').trim();
}

interface TaskSection {
  readonly name: string;
  readonly line: number;
  readonly lines: readonly FileLine[];
}

interface FileSections {
  readonly lead: readonly FileLine[];
  readonly sections: readonly TaskSection[];
}

/** Splits the file at its second-level headings. */
function splitSections(lines: readonly FileLine[]): FileSections {
  const lead: FileLine[] = [];
  const sections: (TaskSection & { readonly lines: FileLine[] })[] = [];
  for (const line of lines) {
    const name = line.fenced ? null : parseHeading(line.text);
    if (name !== null) sections.push({ name, line: line.number, lines: [] });
    else (sections.at(-1)?.lines ?? lead).push(line);
  }
  return { lead, sections };
}

/**
 * Returns the text of a second-level heading without the marks around it, or null for any other
 * line.
 */
function parseHeading(line: string): string | null {
  const found = /^ {0,3}##[ \t]+(.*[^ \t#])?[ \t#]*$/.exec(line);
  return found === null
    ? null
    : (found[1] ?? '').replace(/^[*_`]+|(?<![*_`:])[*_`:]+$/g, '').trim();
}

function splitFileLines(text: string, firstLine: number): FileLine[] {
  const plain = removeComments(text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n'));
  let fence = '';
  return plain.split('\n').map((line, index) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    const fenced = fence !== '' || mark !== '';
    if (fence === '') fence = mark;
    else if (mark !== '' && mark.startsWith(fence) && line.trim() === mark) fence = '';
    return { number: index + firstLine, text: line, fenced };
  });
}

/**
 * Removes comments but keeps their line breaks, so that lines keep their numbers. An unclosed
 * comment is treated as text.
 */
function removeComments(text: string): string {
  const end = text.lastIndexOf('-->') + '-->'.length;
  const plain = text
    .slice(0, end)
    .replace(/<!--[\s\S]*?-->/g, (comment) => comment.replace(/[^\n]+/g, ''));
  return plain + text.slice(end);
}
