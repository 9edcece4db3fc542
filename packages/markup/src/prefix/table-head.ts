import type { Nodes } from 'mdast';
import { closeMarks } from './close-marks.ts';
import { readLine } from './last-line.ts';

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
