import type { Leaf, Mark, Marker, Run } from '../document.ts';
import { commonMarks } from '../transform/runs.ts';

/** A printed part and what the platform counts about it. */
export interface Printed {
  readonly text: string;
  /** What the length limit applies to: `text` itself, or only what people see of it. */
  readonly counted: string;
  readonly entities: number;
}

/** Deeper lists are not indented further: a phone has no room for it. */
const MAX_INDENTED_LEVELS = 8;
/** The name of a footnote may be long; this is right for `[1]`. */
const NOTE_INDENT = 4;
const QUOTE = '> ';

/** The prefix of a leaf's first line and of its other lines. */
interface LinePrefix {
  readonly first: string;
  readonly rest: string;
  /** Whether a bullet or number is part of `first`. */
  readonly hasMarker: boolean;
}

/**
 * The prefix that a leaf's containers give its lines in dialects without list syntax.
 * @param from containers before this index are shown by other means.
 */
export function linePrefix(leaf: Leaf, from = 0): LinePrefix {
  let first = '';
  let rest = '';
  let hasMarker = false;
  for (const [index, container] of leaf.within.entries()) {
    if (index < from || container.type === 'list') continue;
    if (container.type === 'quote') {
      first += QUOTE;
      rest += QUOTE;
      continue;
    }
    const shown = markerText(container.marker);
    const width = container.marker.label === undefined ? shown.length : NOTE_INDENT;
    const indent = index >= MAX_INDENTED_LEVELS * 2 ? '' : ' '.repeat(width);
    const begins = index >= leaf.fresh;
    hasMarker ||= begins;
    first += begins ? shown : indent;
    rest += indent;
  }
  return { first, rest, hasMarker };
}

export function markerText({ label, number, done }: Marker, bullet = '•'): string {
  if (label !== undefined) return `[${label}] `;
  const counter = number === undefined ? '' : `${number}. `;
  if (done !== undefined) return `${counter}${done ? '☑' : '☐'} `;
  return counter === '' ? `${bullet} ` : counter;
}

/** The empty line between two leaves of one quote belongs to the quote. */
export function emptyLinePrefix(before: Leaf | undefined, leaf: Leaf): string {
  let prefix = '';
  for (const [index, container] of leaf.within.entries()) {
    if (before?.within[index] !== container) break;
    if (container.type === 'quote') prefix += QUOTE;
  }
  return prefix.trimEnd();
}

/** What both begin with. */
export function commonStart<Item>(a: readonly Item[], b: readonly Item[]): readonly Item[] {
  let depth = 0;
  while (depth < a.length && a[depth] === b[depth]) depth += 1;
  return a.slice(0, depth);
}

/** What a printer does with inline content. */
interface RunVisitor {
  open(mark: Mark): void;
  close(mark: Mark): void;
  text(text: string, index: number): void;
}

/** Turns runs back into properly nested marks: closes what ends, innermost first, opens what begins. */
export function walkRuns(runs: readonly Run[], visitor: RunVisitor): void {
  const open: Mark[] = [];
  const closeDownTo = (depth: number) => {
    for (const mark of open.splice(depth).reverse()) visitor.close(mark);
  };
  for (const [index, { text, marks }] of runs.entries()) {
    const common = commonMarks(open, marks).length;
    closeDownTo(common);
    for (const mark of marks.slice(common)) {
      visitor.open(mark);
      open.push(mark);
    }
    visitor.text(text, index);
  }
  closeDownTo(0);
}
