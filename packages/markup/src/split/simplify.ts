import type { Leaf, Run, TableLeaf, TextLeaf } from '../document.ts';
import { linkOf, withAddresses } from '../transform/links.ts';
import { headerText, rowContainers, rowTexts } from '../transform/rows.ts';

/**
 * The next simpler form of a leaf of which nothing fits into a part of its own, so that splitting
 * always ends: a table's first row → list item, grid → code → paragraph, paragraph → without its
 * list, then with its first words bare.
 * @returns undefined if it is as simple as can be.
 */
export function simplify(leaf: Leaf): Leaf[] | undefined {
  switch (leaf.kind) {
    case 'table':
      return withFirstRowAsItem(leaf);
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
        ? [{ ...leaf, kind: 'text', runs: [{ text: withoutPings(leaf.text), marks: [] }] }]
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
  const [first] = leaf.runs;
  if (first === undefined || first.marks.length === 0) return undefined;
  return [{ ...leaf, runs: withBareBeginning(first, leaf.runs) }];
}

/** Takes the marks off the first run; off the whole of a link, whose address is then written out. */
function withBareBeginning(first: Run, runs: readonly Run[]): Run[] {
  const link = linkOf(first);
  const end = link === undefined ? 1 : runs.findIndex((run) => linkOf(run) !== link);
  const marked = end < 0 ? runs : runs.slice(0, end);
  const bare = withAddresses(marked).map(({ text, marks }) => {
    const wasCode = marks.some(({ type }) => type === 'code');
    return { text: wasCode ? withoutPings(text) : text, marks: [] };
  });
  return [...bare, ...runs.slice(marked.length)];
}

/** Nobody is pinged from code, and so nobody may be from what was code. */
function withoutPings(text: string): string {
  return text.replaceAll('@', '@\u200b');
}

function withFirstRowAsItem(table: TableLeaf): Leaf[] {
  const { header, rows, within, fresh, gap } = table;
  const [row, ...others] = rows;
  if (row === undefined) return [{ kind: 'text', runs: headerText(header), within, fresh, gap }];
  const [path = within] = rowContainers(within, 1);
  const [runs = []] = rowTexts(header, [row]);
  const item: Leaf = { kind: 'text', runs, within: path, fresh, gap };
  if (others.length === 0) return [item];
  return [item, { ...table, rows: others, fresh: within.length, gap: 1 }];
}
