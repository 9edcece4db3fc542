import type { Cell, Leaf, Run } from './document.ts';
import { hasVisible } from './visible.ts';

/**
 * Length of the text of these leaves alone, in UTF-16 units and a line end between them: a cheap
 * lower bound of every printed form. Stops counting above `enough`.
 */
export function contentLength(leaves: readonly Leaf[], enough: number): number {
  let length = leaves.length - 1;
  for (const leaf of leaves) {
    if (length > enough) break;
    length += lengthOf(leaf, enough - length);
  }
  return length;
}

/** Whether people would see anything of it; platforms refuse a message in which they would not. */
export function isVisible(leaf: Leaf): boolean {
  const showsMarker = leaf.within.some(({ type }, at) => type === 'item' && at >= leaf.fresh);
  return leaf.kind === 'rule' || showsMarker || showsText(leaf);
}

function lengthOf(leaf: Leaf, enough: number): number {
  switch (leaf.kind) {
    case 'text':
      return runsLength(leaf.runs, enough);
    case 'code':
      return leaf.text.length;
    case 'grid':
      return sum(leaf.header, enough, lineLength) + sum(leaf.rows, enough, lineLength);
    case 'table': {
      const ofRow = (row: readonly Cell[]) => sum(row, enough, (cell) => runsLength(cell, enough));
      return ofRow(leaf.header) + sum(leaf.rows, enough, ofRow);
    }
    case 'rule':
      return 0;
  }
}

function lineLength(line: string): number {
  return line.length;
}

function runsLength(runs: readonly Run[], enough: number): number {
  return sum(runs, enough, ({ text }) => text.length);
}

function sum<Item>(
  items: readonly Item[],
  enough: number,
  lengthOfItem: (item: Item) => number,
): number {
  let length = 0;
  for (const item of items) {
    if (length > enough) break;
    length += lengthOfItem(item);
  }
  return length;
}

function showsText(leaf: Leaf): boolean {
  switch (leaf.kind) {
    case 'text':
      return leaf.runs.some(isShown);
    case 'code':
      return hasVisible(leaf.text);
    case 'grid':
      return [...leaf.header, ...leaf.rows].some(hasVisible);
    case 'table':
      return [leaf.header, ...leaf.rows].some((row) => row.some((cell) => cell.some(isShown)));
    case 'rule':
      return true;
  }
}

function isShown({ text }: Run): boolean {
  return hasVisible(text);
}
