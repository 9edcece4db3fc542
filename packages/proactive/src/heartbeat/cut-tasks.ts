import { isDeepStrictEqual } from 'node:util';
import {
  allBelow,
  BOLD,
  bare,
  type FileLine,
  ITEM,
  isPart,
  outlineOf,
  type Part,
  partsBelow,
} from './outline.ts';
import { describeSchedule, quoted, type StandingTask, type TaskProblem } from './task.ts';
import { type BlockTask, tasksBlock } from './tasks-block.ts';
import {
  addTimes,
  isOnlyTime,
  isRule,
  isUnkept,
  labeledTimes,
  mergeTimes,
  readTimes,
  scheduleOf,
  type Times,
} from './times.ts';

/** What the one task of a file without tasks is called. */
export const PROSE_TASK = 'heartbeat';
const TIMES_FORM = 'a time such as "every 2 h, 9:00-21:00", "daily at 8:00" or "Monday at 10:00"';

export interface ReadTasks {
  readonly tasks: readonly StandingTask[];
  readonly problems: readonly TaskProblem[];
  /** What the file says outside of its tasks, for the run of each. */
  readonly context?: string;
}

/** A task as it was found. */
interface Found {
  readonly part: Part;
  readonly text: string;
  readonly times: Times;
}

/**
 * The tasks of a file that was written for another agent (H11): those of OpenClaw's `tasks:` block, else headings and
 * list items that carry a time, with all that is below them; else the whole file is one. A file that only says how to
 * use it has none.
 */
export function cutTasks(written: readonly FileLine[]): ReadTasks {
  const all = withoutUsage(written);
  const start = all.findLast(({ text }) => MARKER.test(text))?.number ?? 0;
  // What is above such a line is text, whatever it looks like.
  const lines = all.flatMap((line) =>
    line.number === start ? [] : [line.number < start ? { ...line, fenced: true } : line],
  );
  const block = tasksBlock(lines);
  const root = outlineOf(block?.others ?? lines);
  const found = block?.tasks.map(foundInBlock) ?? tasksBelow(root, {});
  if (found.length === 0) return wholeFile(root, start);
  const names = new Set<string>();
  const problems: TaskProblem[] = [];
  const tasks = found.flatMap((one) =>
    taskOf(one, uniqueName(shortName(one.part.title), names), problems),
  );
  const used = new Set(found.map(({ part }) => part));
  const outside = allBelow(root, used).filter(
    (one) =>
      !isPart(one) || one.level >= ITEM || (one.level > 1 && allBelow(one, used).some(isWord)),
  );
  if (block === null) problems.push(...untimedItems(root, used), ...timesOutside(outside));
  const context = textOf(outside);
  problems.sort((a, b) => a.line - b.line);
  return { tasks, problems, ...(outside.some(isWord) && { context }) };
}

function foundInBlock({ line, title, text, times }: BlockTask): Found {
  return { part: { ...outlineOf([]), number: line.number, title }, text, times };
}

/** A part is a task or none, with the problems of its times. */
function taskOf(
  { part, text, times }: Found,
  name: string,
  problems: TaskProblem[],
): StandingTask[] {
  const { schedule, isKnown } = scheduleOf(times);
  const note = (line: number, found: string, expected: string) =>
    problems.push({ line, task: name, found: quoted(found), expected, effect: 'note' });
  if (!isKnown && times.unclear !== undefined) {
    const found = quoted(times.unclear);
    problems.push({ line: part.number, task: name, found, expected: TIMES_FORM, effect: 'task' });
    return [];
  }
  if (times.unclear !== undefined) {
    note(part.number, times.unclear, `${TIMES_FORM}; it runs ${describeSchedule(schedule)}`);
  }
  for (const inner of allBelow(part).filter(isPart)) {
    const { hours: _, ...own } = inner.times?.times ?? {};
    const isSame = isDeepStrictEqual(own, { cadence: schedule.cadence });
    if (Object.keys(own).length === 0 || isSame || labelOf(inner)) continue;
    note(inner.number, inner.title, 'one time for all of a task; this line is a part of it');
  }
  return [{ name, line: part.number, ...schedule, instruction: text }];
}

/** The outermost parts that carry a time. One that names nothing but a time (`## Daily`) groups those below it. */
function tasksBelow(part: Part, outer: Times): readonly Found[] {
  return partsBelow(part).flatMap((child) => {
    const own = timesOf(child);
    const times = mergeTimes(outer, own);
    const isGroup = own === null || isOnlyTime(child.times?.rest ?? child.title);
    if (isGroup && hasTimes(child)) return tasksBelow(child, times);
    const isBare = isOnlyTime(child.times?.rest ?? child.title) && own?.unclear === undefined;
    const isEmpty = isBare && !hasWords(child);
    if (isEmpty || Object.keys(times).length === 0 || (own === null && isRule(child.title)))
      return [];
    const isItem = child.level >= ITEM && part.level > 1;
    const title = isItem && own !== null ? `${part.title}: ${child.title}` : child.title;
    return [{ part: child, text: textOf([title, ...allBelow(child)]), times }];
  });
}

/** Whether anything below it says more than times. */
function hasWords(part: Part): boolean {
  return allBelow(part).some((one) => isWord(one) && timesAlone(one) === null);
}

function hasTimes(part: Part): boolean {
  return partsBelow(part).some(
    (one) => labelOf(one) === null && (timesOf(one) !== null || hasTimes(one)),
  );
}

/** The times of a line or item that says nothing else. */
function timesAlone(one: FileLine | Part): Times | null {
  if (!isPart(one)) return one.fenced ? null : labeledTimes(one.text);
  return one.level < ITEM ? null : labeledTimes(one.title);
}

/** The same of one that has nothing to do below it: its times are those of what is above. */
function labelOf(one: FileLine | Part): Times | null {
  const times = timesAlone(one);
  return times !== null && isPart(one) && hasWords(one) ? null : times;
}

/** Those of its own line, and of lines right below that say nothing else. */
function timesOf(part: Part): Times | null {
  const { times, below } = part;
  const labels = below.flatMap((one) => labelOf(one) ?? []);
  if (times === null && (labels.length === 0 || (isOnlyTime(part.title) && !hasWords(part))))
    return null;
  return labels.reduce(addTimes, times?.times ?? {});
}

/** All of a file that shows no times. It asks for nothing where no line below `start` does. */
function wholeFile(root: Part, start: number): ReadTasks {
  const all = allBelow(root);
  const first = all.find((one) => one.number > start && isWord(one));
  if (first === undefined) return { tasks: [], problems: [] };
  const labels = all.flatMap((one) => labelOf(one) ?? []);
  const times = labels.reduce(addTimes, {});
  const problems: TaskProblem[] = [];
  const part = { ...root, number: first.number, below: [] };
  const tasks = taskOf({ part, text: textOf(all), times }, PROSE_TASK, problems);
  const { schedule } = scheduleOf(times);
  const timed = all.find(
    (one) => isWord(one) && isUnkept(isPart(one) ? one.title : one.text, times),
  );
  if (timed !== undefined && labels.length === 0) {
    const expected = `times in headings or list items; all of the file is one task, ${describeSchedule(schedule)}. "parley heartbeat convert" proposes another form`;
    const found = quoted(timed.text);
    problems.push({ line: timed.number, task: PROSE_TASK, found, expected, effect: 'note' });
  }
  return { tasks, problems };
}

/** Items that look like tasks beside some that are: open boxes, and those in one list with tasks. */
function untimedItems(part: Part, used: ReadonlySet<Part>): readonly TaskProblem[] {
  const parts = partsBelow(part);
  const hasTask = (one: Part): boolean => used.has(one) || partsBelow(one).some(hasTask);
  const isInList = parts.some((one) => one.level >= ITEM && used.has(one));
  return parts.flatMap((one) => {
    if (used.has(one)) return [];
    const isTask =
      one.level >= ITEM &&
      (one.isOpen || isInList) &&
      !isRule(one.title) &&
      readTimes(one.title) === null;
    if (!isTask || hasTask(one)) return untimedItems(one, used);
    const expected = `${TIMES_FORM}; without one it is no task, but context of the others`;
    return [{ line: one.number, found: quoted(one.text), expected, effect: 'note' as const }];
  });
}

/** Sentences outside of the tasks that speak of times, which nothing follows. */
function timesOutside(outside: readonly (FileLine | Part)[]): readonly TaskProblem[] {
  return outside.flatMap((one) => {
    const isTimed = !isPart(one) && !one.fenced && isWord(one) && isUnkept(one.text, {});
    const expected = `${TIMES_FORM} in a heading or list item; here it is context of the tasks`;
    return isTimed ? [{ line: one.number, found: quoted(one.text), expected, effect: 'note' }] : [];
  });
}

const LINK = /^\W*\[[^\]]*\]\([^)]*\)\W*$/;
const NO_WORD =
  /^\s*(?:tasks:\s*(?:\[\])?|[`~]{3,}.*)$|^[\W_]*(?:tasks?:\s*)?(?:none|nothing|empty|n\/a|no (?:\w+ )?tasks?)(?: (?:yet|here|now|right now|at the moment|for now))?[\W_]*$|^\P{L}*(?:暂无|无|没有)(?:任务)?\P{L}*$|^[^.。]*(?:reply|respond|answer|return|回复|返回)[^.。]{0,20}HEARTBEAT_OK\W*$/iu;

/** Whether a line asks for something: no heading, link, fence or empty item. */
function isWord(one: FileLine | Part): boolean {
  if (isPart(one) && one.level < BOLD) return false;
  return /[\p{L}\p{N}]/u.test(one.text) && !LINK.test(one.text) && !NO_WORD.test(one.text);
}

function textOf(lines: readonly (string | FileLine | Part)[]): string {
  const texts = lines.map((line) => (typeof line === 'string' ? line : line.text));
  return texts
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Below this line stand the tasks of the file. */
const MARKER = /^[^#\w]*add\b[^.]{0,30}\btasks?\b[^.]{0,20}\bbelow\b(?: this line)?[^\w]*$/i;
/** What the templates of other agents say of the file itself. */
const USAGE =
  /^[^#\w]*(?:(?:this|if this) file (?:is (?:checked|read)|contains tasks|has no tasks)\b|(?:keep|leave) (?:this|the) file (?:\w+,? )?(?:empty|blank)|add (?:\w+ )?tasks? (?:\w+ )?below\b|`?HEARTBEAT\.md`? lives in\b|the default (?:\w+ )?template is)|^(?=.*(?:文件|檔案|Datei|fichier|archivo))(?=.*(?:为空|留空|leer|vide|vacío)).*(?:heartbeat|心跳)/i;

/** A template may stand in a fence of Markdown, as its documentation shows it. */
function withoutUsage(lines: readonly FileLine[]): readonly FileLine[] {
  let isInside = false;
  return lines.flatMap((line) => {
    const isFence = line.fenced && /^\s*[`~]{3,}/.test(line.text);
    const isEdge = isFence && (isInside || /^\s*[`~]{3,}(?:md|markdown)\s*$/i.test(line.text));
    if (isEdge) isInside = !isInside;
    if (isEdge || (USAGE.test(line.text) && !MARKER.test(line.text))) return [];
    return [isInside ? { ...line, fenced: false } : line];
  });
}

/** What stands before a colon, else the first words: the key in heartbeat-state.json. */
function shortName(title: string): string {
  const plain = title.split('\n', 1)[0]?.replace(/[(（][^)）]{0,1000}[)）]/g, ' ') ?? '';
  const [, label = '', rest = ''] =
    /^([^:：]{2,40}?)\s*(?:(?::|\s[—–-])\s+|：\s*)(.*)$/.exec(plain) ?? [];
  const isLabel = label !== '' && readTimes(label) === null;
  const named = rest === '' ? plain : rest;
  const words = (isLabel ? label : bare(readTimes(named)?.rest ?? '') || named).trim().split(/\s+/);
  const name = words
    .slice(0, isLabel ? 8 : 5)
    .join(' ')
    .slice(0, 40);
  return name.replace(/(?<![^\p{L}\p{N})])[^\p{L}\p{N})]+$/u, '') || 'task';
}

function uniqueName(name: string, taken: Set<string>): string {
  let free = name;
  for (let nth = 2; taken.has(free); nth += 1) free = `${name} ${nth}`;
  taken.add(free);
  return free;
}
