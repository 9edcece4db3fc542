import { nearest } from '@parley/settings';
import { quoted, type TaskProblem } from './task-problem.ts';
import type { TaskSection } from './task-sections.ts';

/** The keys that a task may have. */
export const TASK_KEYS = ['every', 'between', 'do', 'run', 'tell', 'check'] as const;
export type TaskKey = (typeof TASK_KEYS)[number];

/** What stands behind a key, over all of its lines. */
export interface TaskField {
  readonly line: number;
  readonly text: string;
}

/** The keys of one section and what was not understood of it. */
export interface TaskFields {
  readonly fields: ReadonlyMap<TaskKey, TaskField>;
  readonly problems: readonly TaskProblem[];
}

/** `- key: value`, with or without marks round the key; text of an instruction may look the same. */
const KEY_LINE = /^ {0,3}[-*+][ \t]+[*_`]*([A-Za-z][A-Za-z _-]{0,30}?)[*_`]*[ \t]*:[*_`]*(.*)$/;

/** A line that asks for nothing: blank, or a heading of another level. */
const NOTHING = /^\s*(?:#{1,6}(?:\s.*)?)?$/;

/** Whether a line sets a key: that is what makes a section a task and not prose. */
export function setsKey(line: string): boolean {
  return keyOf(KEY_LINE.exec(line)?.[1] ?? '') !== undefined;
}

/** Reads the keys of a section. An instruction goes on until the next key. */
export function taskFields({ name, lines }: TaskSection): TaskFields {
  const open = new Map<TaskKey, { line: number; texts: string[] }>();
  const problems: TaskProblem[] = [];
  let last: { line: number; texts: string[] } | undefined;
  const note = (line: number, found: string, expected: string, meant?: string) => {
    const hint = meant === undefined ? {} : { nearest: meant };
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
    const meant = written === '' ? undefined : likelyKey(written);
    const isInstruction = last !== undefined && last === open.get('do');
    if (written !== '' && (!isInstruction || (meant !== undefined && written.length >= 4))) {
      note(number, written, `one of ${TASK_KEYS.join(', ')}`, meant);
      last = undefined;
    } else if (isInstruction) last?.texts.push(text);
    else if (!NOTHING.test(text))
      note(number, text, 'a line such as "- do: Look through new mail."');
  }
  const fields = new Map<TaskKey, TaskField>();
  for (const [key, { line, texts }] of open) fields.set(key, { line, text: joined(texts) });
  return { fields, problems };
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

function likelyKey(written: string): string | undefined {
  return nearest(written, TASK_KEYS);
}
