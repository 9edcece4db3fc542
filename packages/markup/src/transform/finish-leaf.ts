import type { DialectCapabilities } from '../capabilities.ts';
import type { Leaf, Run } from '../document.ts';
import { printable } from './characters.ts';
import { deadenMentions } from './mentions.ts';

type Pings = DialectCapabilities['pings'];

/** What concerns every text of a document alike: nothing unprintable in it and nobody pinged by it. */
export function finishLeaf(leaf: Leaf, pings: Pings): Leaf {
  switch (leaf.kind) {
    case 'text':
      return { ...leaf, runs: finishRuns(leaf.runs, pings) };
    case 'code':
      return { ...leaf, text: printable(leaf.text) };
    case 'table': {
      const finish = (row: readonly (readonly Run[])[]) =>
        row.map((cell) => finishRuns(cell, pings));
      return { ...leaf, header: finish(leaf.header), rows: leaf.rows.map(finish) };
    }
    case 'grid':
    case 'rule':
      return leaf;
  }
}

function finishRuns(runs: readonly Run[], pings: Pings): readonly Run[] {
  const clean = runs.map((run) => {
    const text = printable(run.text);
    return text === run.text ? run : { ...run, text };
  });
  return deadenMentions(clean, pings);
}
