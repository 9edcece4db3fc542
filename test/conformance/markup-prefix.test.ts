import {
  createPrefixRenderer,
  type PrintedTarget,
  type RenderedPart,
  render,
} from '@parley/markup';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mutatedMarkdown, sampleDocument } from './markdown-arbitrary.ts';
import { DIALECTS, READERS } from './markup/readers.ts';
import { RUN_LENGTH, TIMEOUT } from './markup/run-length.ts';

/** Fewer runs, because each run shows a document a dozen times. */
const RUNS = { ...RUN_LENGTH, numRuns: Math.ceil(RUN_LENGTH.numRuns / 4) };

const target: fc.Arbitrary<PrintedTarget> = fc.record({
  dialect: fc.constantFrom(...DIALECTS),
  maxLength: fc.oneof(fc.constantFrom(2_000, 4_096), fc.integer({ min: 60, max: 900 })),
  unit: fc.constantFrom('utf16', 'codepoint', 'byte'),
});
/** Limits that never split a word; on the web page, tags count as well. */
const roomyTarget = target.map((to) => ({ ...to, maxLength: to.maxLength + 300 }));
const markdown = fc.oneof(
  sampleDocument.map((sample) => sample.markdown),
  mutatedMarkdown,
);
/** Prefixes with large gaps between them, or one prefix and its extensions by single characters. */
const places = fc.oneof(
  fc.array(fc.nat(), { minLength: 1, maxLength: 12 }),
  fc.nat().map((place) => Array.from({ length: 12 }, (_, index) => place + index)),
);

const LENGTH: Readonly<Record<PrintedTarget['unit'], (text: string) => number>> = {
  utf16: (text) => text.length,
  codepoint: (text) => [...text].length,
  byte: (text) => Buffer.byteLength(text),
};

type Parts = readonly RenderedPart[];

/** The visible text for each prefix of growing text. */
async function grow(text: string, to: PrintedTarget, cuts: readonly number[]): Promise<Parts[]> {
  const renderer = createPrefixRenderer(to);
  const ends = cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b);
  let from = 0;
  const shown: Parts[] = [];
  for (const end of [...ends, text.length]) {
    renderer.push(text.slice(from, end));
    from = end;
    shown.push(await renderer.show());
  }
  return shown;
}

function expectLegal({ text, plain }: RenderedPart, to: PrintedTarget): void {
  const { read, counted } = READERS[to.dialect];
  const seen = read(text, plain).map((stretch) => stretch.text);
  const shown = counted === 'visible' ? seen.join('') : text;
  expect(LENGTH[to.unit](shown)).toBeLessThanOrEqual(to.maxLength);
  expect(LENGTH[to.unit](plain)).toBeLessThanOrEqual(to.maxLength);
  expect(text.isWellFormed() && plain.isWellFormed()).toBe(true);
}

const wordsIn = (parts: readonly RenderedPart[]) =>
  parts.flatMap(({ plain }) => plain.match(/w\d+w/g) ?? []);

/** Ends the text with a blank line, so that every construct is complete. */
const ended = (text: string) => `${text}\n\n`;
const hasDefinitions = (text: string) => text.includes(']:');

function check(property: fc.IAsyncProperty<[string, PrintedTarget, number[]]>): Promise<void> {
  return fc.assert(property, RUNS);
}

describe('a streamed answer', () => {
  it(
    '[F12] looks the same regardless of how it was split while streaming',
    async () => {
      await check(
        fc.asyncProperty(markdown, target, places, async (text, to, cuts) => {
          expect((await grow(text, to, cuts)).at(-1)).toEqual((await grow(text, to, [])).at(-1));
        }),
      );
    },
    TIMEOUT,
  );

  it(
    '[F12] is valid for every prefix',
    async () => {
      await check(
        fc.asyncProperty(markdown, target, places, async (text, to, cuts) => {
          for (const part of (await grow(text, to, cuts)).flat()) expectLegal(part, to);
        }),
      );
    },
    TIMEOUT,
  );

  it(
    '[F12] keeps the parts of completed constructs, however the text continues',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          sampleDocument,
          sampleDocument,
          target,
          places,
          async (first, second, to, cuts) => {
            const text = ended(first.markdown) + second.markdown;
            fc.pre(!hasDefinitions(text));
            // The last part may absorb the text that follows.
            const kept = render(ended(first.markdown), to).slice(0, -1);
            const from = ended(first.markdown).length;
            const later = cuts.map((cut) => from + (cut % (text.length - from + 1)));
            for (const shown of await grow(text, to, later)) {
              expect(shown.slice(0, kept.length)).toEqual(kept);
            }
          },
        ),
        RUNS,
      );
    },
    TIMEOUT,
  );

  it(
    '[F12] equals the final message when it is complete',
    async () => {
      await check(
        fc.asyncProperty(markdown, target, places, async (text, to, cuts) => {
          fc.pre(!hasDefinitions(text));
          const last = (await grow(ended(text), to, cuts)).at(-1) ?? [];
          expect(last).toEqual(render(ended(text), to));
        }),
      );
    },
    TIMEOUT,
  );

  it(
    '[F12] contains all words, although links and notes with late definitions are shown as written',
    async () => {
      await fc.assert(
        fc.asyncProperty(sampleDocument, roomyTarget, places, async (sample, to, cuts) => {
          const last = (await grow(ended(sample.markdown), to, cuts)).at(-1) ?? [];
          expect(wordsIn(last)).toEqual(sample.words);
        }),
        RUNS,
      );
    },
    TIMEOUT,
  );

  it(
    '[F12] never removes a visible word',
    async () => {
      await fc.assert(
        fc.asyncProperty(sampleDocument, roomyTarget, places, async (sample, to, cuts) => {
          let before: readonly string[] = [];
          for (const shown of await grow(sample.markdown, to, cuts)) {
            const words = new Set(wordsIn(shown));
            for (const word of before) expect(words).toContain(word);
            before = [...words];
          }
        }),
        RUNS,
      );
    },
    TIMEOUT,
  );
});
