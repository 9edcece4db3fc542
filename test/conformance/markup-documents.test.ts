import type { PrintedTarget } from '@parley/markup';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mutatedMarkdown, sampleDocument } from './markdown-arbitrary.ts';
import { checkDocument } from './markup/check-document.ts';
import { DIALECTS } from './markup/readers.ts';
import { RUN_LENGTH, TIMEOUT } from './markup/run-length.ts';
import { readExpected } from './markup/tree-reference.ts';
import { collectSeenWords, getRequiredFormats } from './markup/word-formats.ts';

/** Realistic limits, generous limits, and limits that leave almost no space. */
const maxLength = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(2_000, 4_096) },
  { weight: 3, arbitrary: fc.integer({ min: 300, max: 1_500 }) },
  { weight: 3, arbitrary: fc.integer({ min: 60, max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: 16, max: 60 }) },
);
const unit = fc.constantFrom('utf16', 'codepoint', 'byte');
/** One target per dialect, each with its own limit. */
const targets: fc.Arbitrary<PrintedTarget[]> = fc.tuple(
  ...DIALECTS.map((dialect) => fc.record({ dialect: fc.constant(dialect), maxLength, unit })),
);

/**
 * Parsing the source takes longer than rendering it, so each reading is computed once, when a
 * dialect needs it.
 */
function once<T>(items: Iterator<T>): Iterable<T> {
  const known: T[] = [];
  return {
    *[Symbol.iterator]() {
      for (let at = 0; ; at += 1) {
        if (at === known.length) {
          const next = items.next();
          if (next.done) return;
          known.push(next.value);
        }
        yield known[at] as T;
      }
    },
  };
}

/** Names the dialect in a failure, which prints its seed and the document. */
function inDialect({ dialect }: PrintedTarget, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new Error(`In the dialect ${dialect}: ${error}`, { cause: error });
  }
}

describe('any Markdown in every dialect', () => {
  it(
    '[M03] shows all content of well-formed Markdown once, in order and as intended',
    () => {
      fc.assert(
        fc.property(sampleDocument, targets, (sample, all) => {
          // Uses only the first reading, which treats everything that looks like a formula as one.
          const readings = once(readExpected(sample.markdown).take(1));
          for (const to of all) {
            inDialect(to, () => {
              const { seen: parts } = checkDocument(sample.markdown, to, readings);
              const seen = collectSeenWords(parts);
              for (const [word, formats] of sample.formats) {
                const found = seen.get(word);
                const must = getRequiredFormats(formats, found, to);
                expect(found?.formats ?? [], word).toEqual(expect.arrayContaining(must));
              }
            });
          }
        }),
        RUN_LENGTH,
      );
    },
    TIMEOUT,
  );

  it(
    '[M03] shows all content of sloppy or broken Markdown once and in order',
    () => {
      const doubtful = new Map<string, number>();
      fc.assert(
        fc.property(mutatedMarkdown, targets, (markdown, all) => {
          const readings = once(readExpected(markdown));
          for (const to of all) {
            inDialect(to, () => {
              if (checkDocument(markdown, to, readings).exact) return;
              doubtful.set(to.dialect, (doubtful.get(to.dialect) ?? 0) + 1);
            });
          }
        }),
        RUN_LENGTH,
      );
      // Formulas that start and end at odd positions, for which only the words were compared.
      const most = Math.max(0, ...doubtful.values());
      expect(most / RUN_LENGTH.numRuns, JSON.stringify([...doubtful])).toBeLessThan(0.01);
    },
    TIMEOUT,
  );
});
