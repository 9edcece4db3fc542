import type { Nodes } from 'mdast';
import type { Leaf } from '../document.ts';
import { closeMarks } from './close-marks.ts';
import {
  withDelimiterRow,
  withoutHalfFence,
  withoutHalfLine,
  withoutHalfRow,
} from './last-line.ts';
import {
  type Before,
  type DraftTarget,
  draftSegment,
  type Segment,
  type SegmentParser,
} from './segments.ts';

/** Longer blocks are not shown anew for every word, in UTF-16 units. */
const LONG = 4_096;
/** How many times a long block is shown while it becomes twice as long. */
const TIMES = 16;

/** The block that is still being written: parsed again as it grows. */
export class OpenBlock {
  readonly #parser: SegmentParser;
  readonly #target: DraftTarget;
  #last: { length: number; before: Before; leaves: readonly Leaf[] } | undefined;

  constructor(parser: SegmentParser, target: DraftTarget) {
    this.#parser = parser;
    this.#target = target;
  }

  /**
   * Its leaves, with what is half at its end completed. The very same ones as before if they show the
   * same.
   * @param before what stands before it; another object if the block is another one.
   */
  leaves(text: string, before: Before): readonly Leaf[] {
    const length = shownLength(text);
    if (this.#last?.length === length && this.#last.before === before) return this.#last.leaves;
    const segment = parseOpen(text.slice(0, length), this.#parser);
    const { leaves } = draftSegment(segment, before, this.#target);
    this.#last = { length, before, leaves };
    return leaves;
  }
}

/** How much of a block is shown: all of it, or of a long one that is not over at least 15 in 16 parts. */
function shownLength(text: string): number {
  if (text.length <= LONG || /\n[ \t]*\n$/.test(text.slice(-100))) return text.length;
  const step = 2 ** Math.floor(Math.log2(text.length)) / TIMES;
  const length = Math.floor(text.length / step) * step;
  return isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/**
 * Parses the end of a text that is still being written, as its writer would most likely go on: formats
 * are closed, half-written signs, links and lines are left out.
 */
function parseOpen(text: string, parser: SegmentParser): Segment {
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
