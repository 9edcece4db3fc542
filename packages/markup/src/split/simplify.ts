import type { Leaf, TableLeaf, TextLeaf } from '../document.ts';
import { withAddresses } from '../transform/links.ts';
import { headerText, rowContainers, rowText } from '../transform/tables.ts';

/**
 * The next simpler form of a leaf of which nothing fits into a part of its own, so that splitting
 * always ends: table → list → paragraph, code → paragraph, paragraph → without its list, then
 * without its marks.
 * @returns undefined if it is as simple as can be.
 */
export function simplify(leaf: Leaf): Leaf[] | undefined {
  switch (leaf.kind) {
    case 'table':
      return listOf(leaf);
    case 'grid':
      return [
        {
          ...leaf,
          kind: 'code',
          language: undefined,
          text: [...leaf.header, ...leaf.rows].join('\n'),
        },
      ];
    case 'code':
      return leaf.language === undefined
        ? [{ ...leaf, kind: 'text', runs: [{ text: leaf.text, marks: [] }] }]
        : [{ ...leaf, language: undefined }];
    case 'text':
      return simplerText(leaf);
    case 'rule':
      return leaf.within.length === 0 ? undefined : [{ ...leaf, within: [], fresh: 0 }];
  }
}

function simplerText(leaf: TextLeaf): Leaf[] | undefined {
  if (leaf.within.length > 0) return [{ ...leaf, within: [], fresh: 0 }];
  const { heading, ...text } = leaf;
  if (heading !== undefined) return [text];
  if (!leaf.runs.some(({ marks }) => marks.length > 0)) return undefined;
  const runs = withAddresses(leaf.runs).map((run) => ({ text: run.text, marks: [] }));
  return [{ ...leaf, runs }];
}

function listOf({ header, rows, within, fresh, gap }: TableLeaf): Leaf[] {
  if (rows.length === 0) return [{ kind: 'text', runs: headerText(header), within, fresh, gap }];
  const paths = rowContainers(within, rows.length);
  return rows.map((row, index) => ({
    kind: 'text',
    runs: rowText(header, row),
    within: paths[index] ?? within,
    // The list begins with its first row, each item with its own.
    fresh: index === 0 ? Math.min(fresh, within.length) : within.length + 1,
    gap: index === 0 ? gap : 1,
  }));
}
