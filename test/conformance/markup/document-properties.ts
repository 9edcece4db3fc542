import type { PrintedTarget } from '@parley/markup';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mutatedMarkdown, sampleDocument } from '../markdown-arbitrary.ts';
import { checkDocument } from './check-document.ts';
import { RUN_LENGTH, TIMEOUT } from './run-length.ts';
import { expectedOfMarkdown } from './tree-reference.ts';
import { mustShow, seenWords } from './word-formats.ts';

type Dialect = PrintedTarget['dialect'];

/** Real limits, comfortable ones, and such that hardly anything fits. */
const maxLength = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(2_000, 4_096) },
  { weight: 3, arbitrary: fc.integer({ min: 300, max: 1_500 }) },
  { weight: 3, arbitrary: fc.integer({ min: 60, max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: 16, max: 60 }) },
);
const unit = fc.constantFrom('utf16', 'codepoint', 'byte');

const target = (dialect: Dialect): fc.Arbitrary<PrintedTarget> =>
  fc.record({ dialect: fc.constant(dialect), maxLength, unit });

/** What must hold of any Markdown in one dialect. A failure prints its seed. */
export function documentProperties(dialect: Dialect): void {
  it(
    '[M03] shows all that well-formed Markdown says, once and in order, as it was meant',
    () => {
      fc.assert(
        fc.property(sampleDocument, target(dialect), (sample, to) => {
          // All that looks like maths in it is maths.
          const readings = expectedOfMarkdown(sample.markdown).take(1);
          const { seen: parts } = checkDocument(sample.markdown, to, readings);
          const seen = seenWords(parts);
          for (const [word, formats] of sample.formats) {
            const found = seen.get(word);
            const must = mustShow(formats, found, to);
            expect(found?.formats ?? [], word).toEqual(expect.arrayContaining(must));
          }
        }),
        RUN_LENGTH,
      );
    },
    TIMEOUT,
  );

  it(
    '[M03] shows all that sloppy or broken Markdown says, once and in order',
    () => {
      let doubtful = 0;
      fc.assert(
        fc.property(mutatedMarkdown, target(dialect), (markdown, to) => {
          if (!checkDocument(markdown, to).exact) doubtful += 1;
        }),
        RUN_LENGTH,
      );
      // Maths that begins and ends at odd places; the words were compared.
      expect(doubtful / RUN_LENGTH.numRuns).toBeLessThan(0.01);
    },
    TIMEOUT,
  );
}
