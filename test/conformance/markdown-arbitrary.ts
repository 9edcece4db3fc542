import fc from 'fast-check';
import { block } from './markup/sample-blocks.ts';
import { DEFINITIONS, FOOTNOTES } from './markup/sample-inlines.ts';
import { mutateDocuments } from './markup/sample-mutations.ts';
import { numberWords, type SampleDocument } from './markup/sample-words.ts';

export type { SampleDocument } from './markup/sample-words.ts';

/** Documents with every construct that models write, nested up to three levels. */
export const sampleDocument: fc.Arbitrary<SampleDocument> = fc
  .array(block, { minLength: 1, maxLength: 3 })
  .map((blocks) => numberWords(addReferences(removeMixedDollars(blocks.join('\n\n')))));

/**
 * A sample after random insertions, deletions and repetitions: sloppy or broken Markdown that must
 * still be shown.
 */
export const mutatedMarkdown: fc.Arbitrary<string> = mutateDocuments(sampleDocument);

/**
 * A price before a formula would start a formula: `$5 and **$10**, or $x$` is a formula up to its
 * end.
 */
function removeMixedDollars(markdown: string): string {
  return /\$[^\d$\n]/.test(markdown) ? markdown.replaceAll(/\$(?=\d)/g, '€') : markdown;
}

/** Adds definitions and footnotes only to a document that refers to them. */
function addReferences(markdown: string): string {
  const definitions = /\[r\d\]/.test(markdown) ? [DEFINITIONS] : [];
  const footnotes = markdown.includes('[^') ? [FOOTNOTES] : [];
  return [markdown, ...definitions, ...footnotes].join('\n\n');
}
