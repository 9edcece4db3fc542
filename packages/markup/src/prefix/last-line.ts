import type { Nodes } from 'mdast';
import { closeMarks } from './close-marks.ts';

/** A line, taken apart. */
interface Line {
  /** Indent, quote marks and list markers. */
  readonly prefix: string;
  readonly content: string;
}

const PREFIX = /^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*/;
/** What may still become a list marker, heading, rule, underline, fence or row. */
const HALF_BLOCK = /^(?:[-*+_=#~`|$>]+|\\\[?|\d{1,9}[.)]?)$/;
/** The box of a task, or its beginning. */
const HALF_BOX = /^\[[ xX]?\]?$/;

/** Takes a line apart. */
export function readLine(line: string): Line {
  const prefix = PREFIX.exec(line)?.[0] ?? '';
  return { prefix, content: line.slice(prefix.length).trim() };
}

/** The text without its last line, if it is not decided what that line means: shown it would flicker. */
export function withoutHalfLine(text: string): string {
  const start = text.lastIndexOf('\n') + 1;
  const { prefix, content } = readLine(text.slice(start));
  const marker = prefix.trim();
  const isHalf =
    content === ''
      ? prefix !== ''
      : HALF_BLOCK.test(content) || (marker !== '' && HALF_BOX.test(content));
  return isHalf ? text.slice(0, start) : text;
}

/** The text without a last line that is only the beginning of a table's row. */
export function withoutHalfRow(text: string): string {
  const start = text.lastIndexOf('\n') + 1;
  return /^\|+$/.test(readLine(text.slice(start)).content) ? text.slice(0, start) : text;
}

/**
 * The text without a last line that is the beginning of a code block's end.
 * @param blockStart where the code block begins.
 */
export function withoutHalfFence(text: string, blockStart: number): string {
  const start = text.lastIndexOf('\n') + 1;
  const fence = text[blockStart] ?? '';
  if (start <= blockStart || !'`~$\\'.includes(fence)) return text;
  const { content } = readLine(text.slice(start));
  return content !== '' && content === fence.repeat(content.length) ? text.slice(0, start) : text;
}

/** What a delimiter row is made of. */
const DELIMITERS = /^[|:\- \t]+$/;
const PIPE = /(?<!\\)\|/g;

/**
 * Completes a table of which there is no more than the header row and perhaps half of the row below
 * it, so that its pipes are never seen. A table is expected where a line begins with one pipe.
 * @param last the block that the text ends with, and where it begins.
 * @returns undefined if the text does not end like that.
 */
export function withDelimiterRow(text: string, last: Nodes, start: number): string | undefined {
  if (last.type !== 'paragraph' && last.type !== 'heading') return undefined;
  const whole = text.endsWith('\n') ? text.slice(0, -1) : text;
  const lineStart = Math.max(start, whole.lastIndexOf('\n') + 1);
  const { content } = readLine(whole.slice(lineStart));
  if (whole === text && lineStart > start && DELIMITERS.test(content)) {
    return withHead(whole.slice(0, lineStart - 1), start);
  }
  const isHead = last.type === 'paragraph' && /^\|[^|]/.test(content);
  return isHead ? withHead(whole, start) : undefined;
}

/** Ends a text whose last line is a header row with the row that makes it a table. */
function withHead(text: string, start: number): string | undefined {
  const lineStart = text.lastIndexOf('\n') + 1;
  const { prefix } = readLine(text.slice(lineStart));
  const rowStart = Math.max(start, lineStart + prefix.length);
  const row = closedRow(text.slice(rowStart));
  const cells = row
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .match(PIPE);
  if (!row.includes('|')) return undefined;
  const delimiters = '|-'.repeat((cells?.length ?? 0) + 1);
  return `${text.slice(0, rowStart)}${row}\n${prefix.replace(/[^\s>]/g, ' ')}${delimiters}|`;
}

/** The row with the formats of its last cell closed. */
function closedRow(row: string): string {
  const pipe = [...row.matchAll(PIPE)].at(-1)?.index ?? -1;
  return row.slice(0, pipe + 1) + closeMarks(row.slice(pipe + 1));
}
