import { toDisplayText } from '@parley/core';
import type { DialectCapabilities } from '../capabilities.ts';
import type { Leaf, TextRun } from '../document.ts';
import { neutralizeMentions } from './runs.ts';

type MentionRules = DialectCapabilities['pings'];

/**
 * Finishes the text of a document: removes unprintable characters and prevents mentions from
 * notifying people.
 */
export function sanitizeLeaf(leaf: Leaf, pings: MentionRules): Leaf {
  switch (leaf.kind) {
    case 'text':
      return { ...leaf, runs: sanitizeRuns(leaf.runs, pings) };
    case 'code':
      return { ...leaf, text: toDisplayText(leaf.text) };
    case 'table': {
      const finish = (row: readonly (readonly TextRun[])[]) =>
        row.map((cell) => sanitizeRuns(cell, pings));
      return { ...leaf, header: finish(leaf.header), rows: leaf.rows.map(finish) };
    }
    case 'grid':
    case 'rule':
      return leaf;
  }
}

function sanitizeRuns(runs: readonly TextRun[], pings: MentionRules): readonly TextRun[] {
  const clean = runs.map((run) => {
    const text = toDisplayText(run.text);
    return text === run.text ? run : { ...run, text };
  });
  return neutralizeMentions(clean, pings);
}
