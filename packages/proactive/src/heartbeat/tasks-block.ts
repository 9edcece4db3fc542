import type { FileLine } from './outline.ts';
import { parseDayWindow } from './task.ts';
import { addTimes, type LineTimes, parseTimes } from './times.ts';

/** An entry in OpenClaw's `tasks:` block: `- name:` with `interval:` and `prompt:`. */
export interface BlockTask {
  readonly line: FileLine;
  readonly title: string;
  readonly text: string;
  readonly times: LineTimes;
}

interface BlockEntry {
  readonly line: FileLine;
  readonly fields: Map<string, string>;
}

const BLOCK = /^\s*tasks:\s*$/i;
const FIELD = /^(\s*(?:-\s+)?)(\w+):(?!\/\/)\s*(.*)$/;
/** Matches an entry on one line: `- {name: mail, interval: 30m}`. */
const FLOW = /^(\s*-\s+)\{(.*)\}\s*$/;
/** Matches a comment that hides an entry or a field; other lines with this sign are headings. */
const COMMENT = /^\s*#\s*(?:-\s+)?\w+:(?:\s|$)/;
const KEY = /^(?:name|id|interval|prompt)$/;
const TIME_KEY =
  /^(?:interval|every|cadence|schedule|frequency|cron|at|time|when|on|days?|window|hours|active_?hours|time_?zone|tz)$/;

/**
 * Returns the tasks in the block, and the other lines in the file; null if there is no block. The
 * block is parsed line by line, as in OpenClaw, because many such blocks are not valid YAML, for
 * example `prompt: Look at this: the mail`.
 */
export function parseTasksBlock(written: readonly FileLine[]) {
  const lines = written.flatMap(splitFlowFields);
  const start = lines.findIndex(({ text }) => BLOCK.test(text));
  if (start === -1) return null;
  const entries: BlockEntry[] = [];
  let key = '';
  /** Lines with a deeper indent than this belong to the value of the last key. */
  let textIndent = Number.POSITIVE_INFINITY;
  let end = start + 1;
  for (const line of lines.slice(end)) {
    const [, lead = '', name = '', value = ''] = FIELD.exec(line.text) ?? [];
    const indent = measureIndent(line.text);
    const isDeeper = indent > textIndent || indent > measureIndent(entries[0]?.line.text ?? '') + 4;
    const isNested = lead.includes('-') && entries.length > 0 && isDeeper;
    const isText = indent > textIndent || isNested || name === '';
    if (COMMENT.test(line.text) && indent <= textIndent) {
    } else if (!isText && (lead.includes('-') || (lead !== '' && entries.length > 0))) {
      if (lead.includes('-')) entries.push({ line, fields: new Map() });
      key = name.toLowerCase();
      textIndent = /^[|>]/.test(value) ? lead.length : Number.POSITIVE_INFINITY;
      entries.at(-1)?.fields.set(key, readYamlValue(value));
    } else if (line.text.trim() === '' || (indent > 0 && key !== '')) {
      const fields = entries.at(-1)?.fields;
      fields?.set(key, `${fields.get(key) ?? ''}\n${line.text.trim()}`.trim());
    } else break;
    end += 1;
  }
  if (!entries.some(({ fields }) => [...fields.keys()].some((name) => KEY.test(name)))) return null;
  return {
    tasks: entries.flatMap(toBlockTasks),
    others: [...lines.slice(0, start), ...lines.slice(end)],
  };
}

function splitFlowFields(line: FileLine): readonly FileLine[] {
  const [, lead = '', inner] = FLOW.exec(line.text) ?? [];
  if (!inner?.includes('name:')) return [line];
  const fields = inner.split(/,\s*(?=\w+:)/);
  return fields.map((field, nth) => ({
    ...line,
    text: `${nth === 0 ? lead : ' '.repeat(lead.length)}${field}`,
  }));
}

function measureIndent(line: string): number {
  return line.length - line.trimStart().length;
}

/**
 * Returns a value without its quotes and without a comment after it; empty if it only introduces
 * the lines below.
 */
function readYamlValue(value: string): string {
  const [, quote, text = ''] = /^(["'])(.*?[^\\])\1(?:\s+#.*)?\s*$/.exec(value) ?? [];
  if (quote !== undefined) return quote === '"' ? text.replace(/\\(["\\])/g, '$1') : text;
  return value.replace(/^[|>][+-]?\s*$/, '').replace(/(?<!\s)\s+#.*$/, '');
}

function toBlockTasks({ line, fields }: BlockEntry): BlockTask[] {
  const { id = '', name = id, prompt = name, ...more } = Object.fromEntries(fields);
  const { enabled = 'yes', disabled = 'no', ...others } = more;
  if (/^(?:false|no|off)$/i.test(enabled) || /^(?:true|yes|on)$/i.test(disabled)) return [];
  const set = Object.entries(others).filter(([, value]) => value !== '');
  const times = set
    .filter(([key]) => TIME_KEY.test(key))
    .map(([key, value]) => readFieldTimes(key, value))
    .reduce(addTimes, {});
  const rest = set.filter(([key]) => !TIME_KEY.test(key)).map(([key, value]) => `${key}: ${value}`);
  const text = [prompt, ...rest].join('\n').trim() || 'Look after this.';
  return [{ line, title: name || text, text, times }];
}

function readFieldTimes(key: string, value: string): LineTimes {
  // OpenClaw reads a bare number as minutes.
  const isMinutes = /^\d+$/.test(value) && key === 'interval';
  const read = parseTimes(value) ?? parseTimes(`every ${value}${isMinutes ? ' min' : ''}`);
  if (read !== null) return read.times;
  const hours = parseDayWindow(value);
  return hours === null ? { unclear: value } : { hours };
}
