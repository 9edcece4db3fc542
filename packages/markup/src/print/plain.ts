import type { CodeLeaf, GridLeaf, Leaf, Run, TableLeaf } from '../document.ts';
import { addressAfter, linkOf } from '../transform/links.ts';
import { emptyLinePrefix, linePrefix } from './line-prefix.ts';
import type { Printed } from './printed.ts';

/** A thematic break where no rule can be drawn. */
export const RULE = '———';

/** For terminals and logs, and for what no richer parser may refuse. */
export function printPlain(leaves: readonly Leaf[]): Printed {
  const text = plainText(leaves, { addresses: true });
  return { text, counted: text, entities: 0 };
}

/**
 * What people see of these leaves, as plain text.
 * @param options.addresses whether link addresses follow their text in parentheses.
 */
export function plainText(
  leaves: readonly Leaf[],
  options: { readonly addresses: boolean },
): string {
  let text = '';
  let before: Leaf | undefined;
  for (const leaf of leaves) {
    if (before !== undefined) {
      text += leaf.gap === 2 ? `\n${emptyLinePrefix(before, leaf)}\n` : '\n';
    }
    text += plainLeaf(leaf, options.addresses);
    before = leaf;
  }
  return text;
}

function plainLeaf(leaf: Leaf, addresses: boolean): string {
  const { first, rest, hasMarker } = linePrefix(leaf);
  const body = leafLines(leaf, addresses);
  // Fixed-width lines must all start in the same column, so a bullet gets a line of its own.
  const ownLine = hasMarker && isFixedWidth(leaf);
  const lines = ownLine ? ['', ...body] : body;
  return lines
    .map((line, index) => (index === 0 ? first : rest) + line)
    .map((line) => (line.trim() === '' ? line.trimEnd() : line))
    .join('\n');
}

function isFixedWidth(leaf: Leaf): leaf is CodeLeaf | GridLeaf | TableLeaf {
  return leaf.kind === 'code' || leaf.kind === 'grid' || leaf.kind === 'table';
}

function leafLines(leaf: Leaf, addresses: boolean): string[] {
  switch (leaf.kind) {
    case 'text':
      return runsText(leaf.runs, addresses).split('\n');
    case 'code':
      return leaf.text.split('\n');
    case 'grid':
      return [...leaf.header, ...leaf.rows];
    case 'table':
      return [leaf.header, ...leaf.rows].map((row) =>
        row.map((cell) => runsText(cell, addresses)).join(' | '),
      );
    case 'rule':
      return [RULE];
  }
}

function runsText(runs: readonly Run[], addresses: boolean): string {
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
