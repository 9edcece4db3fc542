import { isDeepStrictEqual } from 'node:util';
import {
  BOLD,
  type FileLine,
  ITEM,
  isOutlinePart,
  listChildParts,
  listDescendants,
  type OutlinePart,
  parseOutline,
  stripMarks,
} from './outline.ts';
import { describeSchedule, type StandingTask, shortenName, type TaskProblem } from './task.ts';
import { type BlockTask, parseTasksBlock } from './tasks-block.ts';
import {
  addTimes,
  hasDifferentTime,
  isOnlyTime,
  isRuleTitle,
  type LineTimes,
  mergeTimes,
  parseTimes,
  readLabeledTimes,
  toSchedule,
} from './times.ts';

/** The name of a task that covers the whole file. */
export const PROSE_TASK = 'heartbeat';
const TIMES_FORM = 'a time such as "every 2 h, 9:00-21:00", "daily at 8:00" or "Monday at 10:00"';

export interface ParsedTasks {
  readonly tasks: readonly StandingTask[];
  readonly problems: readonly TaskProblem[];
  /** The text in the file outside its tasks, which is passed to each run. */
  readonly context?: string;
}

interface ExtractedTask {
  readonly part: OutlinePart;
  readonly text: string;
  readonly times: LineTimes;
}

/**
 * Finds the tasks in a file written for another agent (H11): the entries in OpenClaw's `tasks:`
 * block, or else headings and list items with a time, including everything below them. If there are
 * neither, the whole file is one task. A file that only explains how to use it does not contain a
 * task.
 */
export function extractTasks(written: readonly FileLine[]): ParsedTasks {
  const all = removeUsageSentences(written);
  const start = all.findLast(({ text }) => MARKER.test(text))?.number ?? 0;
  // Everything above such a line is plain text, whatever it looks like.
  const lines = all.flatMap((line) =>
    line.number === start ? [] : [line.number < start ? { ...line, fenced: true } : line],
  );
  const block = parseTasksBlock(lines);
  const root = parseOutline(block?.others ?? lines);
  const found = block?.tasks.map(toExtractedTask) ?? listNestedTasks(root, {});
  if (found.length === 0) return parseWholeFile(root, start);
  const names = new Set<string>();
  const problems: TaskProblem[] = [];
  const tasks = found.flatMap((one) =>
    createTask(one, toUniqueName(toShortName(one.part.title), names), problems),
  );
  const used = new Set(found.map(({ part }) => part));
  const outside = listDescendants(root, used).filter(
    (one) =>
      !isOutlinePart(one) ||
      one.level >= ITEM ||
      (one.level > 1 && listDescendants(one, used).some(isInstruction)),
  );
  if (block === null) problems.push(...listNotesOutsideTasks(root, used));
  const context = joinLineTexts(outside);
  problems.sort((a, b) => a.line - b.line);
  return { tasks, problems, ...(outside.some(isInstruction) && { context }) };
}

function toExtractedTask({ line, title, text, times }: BlockTask): ExtractedTask {
  return { part: { ...parseOutline([]), number: line.number, title }, text, times };
}

/**
 * Returns the task in a part, or nothing if its time is not recognized. Reports problems with the
 * part's times.
 */
function createTask(
  { part, text, times }: ExtractedTask,
  name: string,
  problems: TaskProblem[],
): StandingTask[] {
  const { schedule, isKnown } = toSchedule(times);
  const note = (line: number, found: string, expected: string) =>
    problems.push({ line, task: name, found: shortenName(found), expected, effect: 'note' });
  if (!isKnown && times.unclear !== undefined) {
    const found = shortenName(times.unclear);
    problems.push({ line: part.number, task: name, found, expected: TIMES_FORM, effect: 'task' });
    return [];
  }
  if (times.unclear !== undefined) {
    note(part.number, times.unclear, `${TIMES_FORM}; it runs ${describeSchedule(schedule)}`);
  }
  for (const inner of listDescendants(part).filter(isOutlinePart)) {
    const { hours: _, ...own } = inner.times?.times ?? {};
    const isSame = isDeepStrictEqual(own, { cadence: schedule.cadence });
    if (Object.keys(own).length === 0 || isSame || readTimesLabel(inner)) continue;
    note(inner.number, inner.title, 'one time for a whole task; this line is part of a task');
  }
  return [{ name, line: part.number, ...schedule, instruction: text }];
}

/**
 * Returns the outermost parts with a time. A part whose title contains only a time (`## Daily`)
 * groups the timed parts below it.
 */
function listNestedTasks(part: OutlinePart, outer: LineTimes): readonly ExtractedTask[] {
  return listChildParts(part).flatMap((child) => {
    const own = readPartTimes(child);
    const times = mergeTimes(outer, own);
    const isGroup = own === null || isOnlyTime(child.times?.rest ?? child.title);
    if (isGroup && hasTimes(child)) return listNestedTasks(child, times);
    const isBare = isOnlyTime(child.times?.rest ?? child.title) && own?.unclear === undefined;
    const isEmpty = isBare && !hasInstructions(child);
    if (isEmpty || Object.keys(times).length === 0 || (own === null && isRuleTitle(child.title)))
      return [];
    const isItem = child.level >= ITEM && part.level > 1;
    const title = isItem && own !== null ? `${part.title}: ${child.title}` : child.title;
    return [{ part: child, text: joinLineTexts([title, ...listDescendants(child)]), times }];
  });
}

/** Whether a part contains an instruction rather than only a time. */
function hasInstructions(part: OutlinePart): boolean {
  return listDescendants(part).some((one) => isInstruction(one) && readTimeOnlyLine(one) === null);
}

function hasTimes(part: OutlinePart): boolean {
  return listChildParts(part).some(
    (one) => readTimesLabel(one) === null && (readPartTimes(one) !== null || hasTimes(one)),
  );
}

/** Returns the times in a line or item that contains only a time, such as `Interval: 15m`. */
function readTimeOnlyLine(one: FileLine | OutlinePart): LineTimes | null {
  if (!isOutlinePart(one)) return one.fenced ? null : readLabeledTimes(one.text);
  return one.level < ITEM ? null : readLabeledTimes(one.title);
}

/**
 * Returns the times in such a line or item, unless it has instructions below it. These times belong
 * to the part that contains the line.
 */
function readTimesLabel(one: FileLine | OutlinePart): LineTimes | null {
  const times = readTimeOnlyLine(one);
  return times !== null && isOutlinePart(one) && hasInstructions(one) ? null : times;
}

/**
 * Returns the times in a part's own line, and in lines directly below it that contain only a time.
 */
function readPartTimes(part: OutlinePart): LineTimes | null {
  const { times, below } = part;
  const labels = below.flatMap((one) => readTimesLabel(one) ?? []);
  if (times === null && (labels.length === 0 || (isOnlyTime(part.title) && !hasInstructions(part))))
    return null;
  return labels.reduce(addTimes, times?.times ?? {});
}

/**
 * Parses the whole file as one task; there is no task if nothing below the line `start` is an
 * instruction.
 */
function parseWholeFile(root: OutlinePart, start: number): ParsedTasks {
  const all = listDescendants(root);
  const first = all.find((one) => one.number > start && isInstruction(one));
  if (first === undefined) return { tasks: [], problems: [] };
  const labels = all.flatMap((one) => readTimesLabel(one) ?? []);
  const times = labels.reduce(addTimes, {});
  const problems: TaskProblem[] = [];
  const part = { ...root, number: first.number, below: [] };
  const tasks = createTask({ part, text: joinLineTexts(all), times }, PROSE_TASK, problems);
  const { schedule } = toSchedule(times);
  const timed = all.find(
    (one) =>
      isInstruction(one) && hasDifferentTime(isOutlinePart(one) ? one.title : one.text, times),
  );
  if (timed !== undefined && labels.length === 0) {
    const expected = `times in headings or list items; the whole file is one task, ${describeSchedule(schedule)}. "parley heartbeat convert" proposes another form`;
    problems.push({ ...createTaskNote(timed, expected), task: PROSE_TASK });
  }
  return { tasks, problems };
}

/**
 * Lists notes about text outside the tasks that may have been meant as a task: open checkboxes,
 * items in a list where other items are tasks, and sentences with a time.
 */
function listNotesOutsideTasks(
  part: OutlinePart,
  used: ReadonlySet<OutlinePart>,
): readonly TaskProblem[] {
  const hasTask = (one: OutlinePart): boolean => used.has(one) || listChildParts(one).some(hasTask);
  const isListOfTasks = listChildParts(part).some((one) => one.level >= ITEM && used.has(one));
  return part.below.flatMap((one) => {
    if (!isOutlinePart(one)) {
      const isTimed = !one.fenced && isInstruction(one) && hasDifferentTime(one.text, {});
      const expected = `${TIMES_FORM} in a heading or list item; here it is context for the tasks`;
      return isTimed ? [createTaskNote(one, expected)] : [];
    }
    const looksLikeTask =
      one.level >= ITEM && (one.isOpen || isListOfTasks) && !isRuleTitle(one.title);
    if (used.has(one)) return [];
    if (!looksLikeTask || parseTimes(one.title) !== null || hasTask(one))
      return listNotesOutsideTasks(one, used);
    return [
      createTaskNote(
        one,
        `${TIMES_FORM}; without one, this is not a task but context for the other tasks`,
      ),
    ];
  });
}

function createTaskNote({ number, text }: FileLine | OutlinePart, expected: string): TaskProblem {
  return { line: number, found: shortenName(text), expected, effect: 'note' };
}

const LINK = /^\W*\[[^\]]*\]\([^)]*\)\W*$/;
const NO_WORD =
  /^\s*(?:tasks:\s*(?:\[\])?|[`~]{3,}.*)$|^[\W_]*(?:tasks?:\s*)?(?:none|nothing|empty|n\/a|no (?:\w+ )?tasks?)(?: (?:yet|here|now|right now|at the moment|for now))?[\W_]*$|^\P{L}*(?:暂无|无|没有)(?:任务)?\P{L}*$|^[^.。]*(?:reply|respond|answer|return|回复|返回)[^.。]{0,20}HEARTBEAT_OK\W*$/iu;

/** Whether a line is an instruction, rather than a heading, link, fence or empty item. */
function isInstruction(one: FileLine | OutlinePart): boolean {
  if (isOutlinePart(one) && one.level < BOLD) return false;
  return /[\p{L}\p{N}]/u.test(one.text) && !LINK.test(one.text) && !NO_WORD.test(one.text);
}

function joinLineTexts(lines: readonly (string | FileLine | OutlinePart)[]): string {
  const texts = lines.map((line) => (typeof line === 'string' ? line : line.text));
  return texts
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Matches a line that introduces the tasks listed below it. */
const MARKER = /^[^#\w]*add\b[^.]{0,30}\btasks?\b[^.]{0,20}\bbelow\b(?: this line)?[^\w]*$/i;
/** Matches sentences about the file itself in the templates of other agents. */
const USAGE =
  /^[^#\w]*(?:(?:this|if this) file (?:is (?:checked|read)|contains tasks|has no tasks)\b|(?:keep|leave) (?:this|the) file (?:\w+,? )?(?:empty|blank)|add (?:\w+ )?tasks? (?:\w+ )?below\b|`?HEARTBEAT\.md`? lives in\b|the default (?:\w+ )?template is)|^(?=.*(?:文件|檔案|Datei|fichier|archivo))(?=.*(?:为空|留空|leer|vide|vacío)).*(?:heartbeat|心跳)/i;

/**
 * Removes sentences about the file itself. A template may be inside a Markdown fence, as in the
 * documentation it was copied from.
 */
function removeUsageSentences(lines: readonly FileLine[]): readonly FileLine[] {
  let isInside = false;
  return lines.flatMap((line) => {
    const isFence = line.fenced && /^\s*[`~]{3,}/.test(line.text);
    const isEdge = isFence && (isInside || /^\s*[`~]{3,}(?:md|markdown)\s*$/i.test(line.text));
    if (isEdge) isInside = !isInside;
    if (isEdge || (USAGE.test(line.text) && !MARKER.test(line.text))) return [];
    return [isInside ? { ...line, fenced: false } : line];
  });
}

/**
 * Returns the label before a colon, or else the first words. The name is the key in
 * heartbeat-state.json.
 */
function toShortName(title: string): string {
  const plain = title.split('\n', 1)[0]?.replace(/[(（][^)）]{0,1000}[)）]/g, ' ') ?? '';
  const [, label = '', rest = ''] =
    /^([^:：]{2,40}?)\s*(?:(?::|\s[—–-])\s+|：\s*)(.*)$/.exec(plain) ?? [];
  const isLabel = label !== '' && parseTimes(label) === null;
  const named = rest === '' ? plain : rest;
  const words = (isLabel ? label : stripMarks(parseTimes(named)?.rest ?? '') || named)
    .trim()
    .split(/\s+/);
  const name = words
    .slice(0, isLabel ? 8 : 5)
    .join(' ')
    .slice(0, 40);
  return name.replace(/(?<![^\p{L}\p{N})])[^\p{L}\p{N})]+$/u, '') || 'task';
}

function toUniqueName(name: string, taken: Set<string>): string {
  let free = name;
  for (let nth = 2; taken.has(free); nth += 1) free = `${name} ${nth}`;
  taken.add(free);
  return free;
}
