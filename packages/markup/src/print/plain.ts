import type { DialectCapabilities } from '../capabilities.ts';
import type { CodeLeaf, GridLeaf, Leaf, Run, TableLeaf } from '../document.ts';
import { addressAfter, deadenMentions, deadenPlain, linkOf } from '../transform/runs.ts';
import { emptyLinePrefix, linePrefix, type Printed } from './lines.ts';

/** A thematic break where no rule can be drawn. */
export const RULE = '———';

/** For terminals and logs, and for what no richer parser may refuse. */
export function printPlain(leaves: readonly Leaf[]): Printed {
  const text = plainText(leaves, { addresses: true });
  return { text, counted: text, entities: 0 };
}

export interface PlainOptions {
  /** Link addresses follow their text in parentheses. */
  readonly addresses: boolean;
  /** What the platform makes a ping of: without its code font, code would do so too. */
  readonly pings?: DialectCapabilities['pings'];
}

/** What people see of these leaves, as plain text. */
export function plainText(leaves: readonly Leaf[], options: PlainOptions): string {
  let text = '';
  let before: Leaf | undefined;
  for (const leaf of leaves) {
    if (before !== undefined) {
      text += leaf.gap === 2 ? `\n${emptyLinePrefix(before, leaf)}\n` : '\n';
    }
    text += plainLeaf(leaf, options);
    before = leaf;
  }
  return text;
}

function plainLeaf(leaf: Leaf, options: PlainOptions): string {
  const { first, rest, hasMarker } = linePrefix(leaf);
  const body = leafLines(leaf, options);
  // Fixed-width lines must all start in the same column, so a bullet gets a line of its own.
  const ownLine = hasMarker && isFixedWidth(leaf);
  const lines = ownLine ? ['', ...body] : body;
  return lines
    .map((line, index) => (index === 0 ? first : rest) + line)
    .map((line) => (line.trim() === '' ? line.trimEnd() : line))
    .join('\n');
}

type FixedLeaf = CodeLeaf | GridLeaf | TableLeaf;

export function isFixedWidth(leaf: Leaf): leaf is FixedLeaf {
  return leaf.kind !== 'text' && leaf.kind !== 'rule';
}

/** The text of a block of fixed width; the transform leaves tables only where they are native. */
export function fixedText(leaf: FixedLeaf): string {
  if (leaf.kind === 'code') return leaf.text;
  if (leaf.kind === 'grid') return [...leaf.header, ...leaf.rows].join('\n');
  return plainText([{ ...leaf, within: [] }], { addresses: true });
}

function leafLines(leaf: Leaf, options: PlainOptions): string[] {
  switch (leaf.kind) {
    case 'text':
      return runsText(leaf.runs, options).split('\n');
    case 'code':
    case 'grid':
      return deadenPlain(fixedText(leaf), options.pings ?? []).split('\n');
    case 'table':
      return [leaf.header, ...leaf.rows].map((row) =>
        row.map((cell) => runsText(cell, options).replaceAll('\n', ' ')).join(' | '),
      );
    case 'rule':
      return [RULE];
  }
}

function runsText(all: readonly Run[], { addresses, pings = [] }: PlainOptions): string {
  const mayPing = pings.length > 0 && all.some((run) => run.text.includes('@'));
  const runs = mayPing ? deadenMentions(all.map(withoutCode), pings) : all;
  let text = '';
  let linked = '';
  for (const [index, run] of runs.entries()) {
    text += run.text;
    const link = linkOf(run);
    linked = link === undefined ? '' : linked + run.text;
    if (link === undefined || linkOf(runs[index + 1]) === link) continue;
    if (addresses) text += addressAfter(linked, link.url);
    linked = '';
  }
  return text;
}

function withoutCode({ text, marks }: Run): Run {
  return { text, marks: marks.filter(({ type }) => type !== 'code') };
}
