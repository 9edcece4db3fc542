import type { Nodes } from 'mdast';
import { closeMarks } from './close-marks.ts';
import { withoutHalfFence, withoutHalfLine, withoutHalfRow } from './last-line.ts';
import type { Segment, SegmentParser } from './parse-segment.ts';
import { withDelimiterRow } from './table-head.ts';

/**
 * Parses the end of a text that is still being written, as its writer would most likely go on: formats
 * are closed, half-written signs, links and lines are left out.
 */
export function parseOpen(text: string, parser: SegmentParser): Segment {
  const segment = parser.whole(text);
  const last = lastBlock(segment.nodes);
  const lent = segment.source.length - text.length;
  const start = (last?.position?.start.offset ?? 0) - lent;
  const decided = withoutHalfBlock(text, last, start);
  // Without its last line the text ends with another block, which may be half as well.
  if (decided.length < text.length) return parseOpen(decided, parser);
  const end = (last?.position?.end.offset ?? 0) - lent;
  if (last === undefined || isOver(text, end, last)) return segment;
  const complete =
    withDelimiterRow(text, last, start) ?? text.slice(0, start) + closeMarks(text.slice(start));
  return complete === text ? segment : parser.whole(complete);
}

/** The block that the text ends with; in a table the last cell. */
function lastBlock(nodes: readonly Nodes[]): Nodes | undefined {
  const last = nodes.at(-1);
  switch (last?.type) {
    case 'list':
    case 'listItem':
    case 'blockquote':
    case 'footnoteDefinition':
    case 'table':
    case 'tableRow':
      return lastBlock(last.children) ?? last;
    default:
      return last;
  }
}

function withoutHalfBlock(text: string, last: Nodes | undefined, start: number): string {
  if (last?.type === 'code') return withoutHalfFence(text, start);
  if (last?.type === 'tableCell') return withoutHalfRow(text);
  if (last === undefined || withDelimiterRow(text, last, start) === undefined) {
    return withoutHalfLine(text);
  }
  return text;
}

/** Whether nothing that follows can belong to this block, or nothing in it is ever half. */
function isOver(text: string, end: number, { type }: Nodes): boolean {
  const lineEnd = text.indexOf('\n', end);
  switch (type) {
    case 'paragraph':
      return lineEnd >= 0 && text.includes('\n', lineEnd + 1);
    case 'heading':
    case 'tableCell':
      return lineEnd >= 0;
    default:
      return true;
  }
}
