import { type RenderedPart, render } from '@parley/markup';
import { parseTelegramHtml } from '@parley/simulators/telegram';
import { type FormattedMessage, parseWhatsApp } from '@parley/simulators/whatsapp';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mutatedMarkdown, sampleDocument } from '../../conformance/markdown-arbitrary.ts';
import { RUN_LENGTH } from '../../conformance/markup/run-length.ts';

const limits = fc.integer({ min: 64, max: 1_200 });
const RUNS = RUN_LENGTH;
const WORD = /[wh]\d+[wh]/g;

/**
 * Parses the parts with the strict reader, after checking that each part is valid and within the
 * limit.
 */
function read(markdown: string, maxLength: number): FormattedMessage[] {
  const parts = render(markdown, { dialect: 'whatsapp', maxLength, unit: 'utf16' });
  return parts.map((part) => readPart(part, maxLength));
}

function readPart({ text, plain }: RenderedPart, maxLength: number): FormattedMessage {
  expect(text.length).toBeLessThanOrEqual(maxLength);
  expect(text.isWellFormed()).toBe(true);
  const formatted = parseWhatsApp(text, plain);
  expect(formatted.violations, text).toEqual([]);
  return formatted;
}

/** The visible text of all parts, without white space and the renderer's additions. */
function essence(parts: readonly FormattedMessage[]): string {
  const shown = parts.map(({ runs }) => runs.map(({ text }) => text).join('\n')).join('\n');
  return shown.replace(/(?<!\S)\d+\.(?!\S)|[\s\p{Cf}•☐☑]/gu, '');
}

/**
 * Each word with its inline formats on WhatsApp. Words in monospace, such as in a grid, have no
 * formatting.
 */
function shownFormats(parts: readonly FormattedMessage[]): Map<string, Set<string>> {
  const formats = new Map<string, Set<string>>();
  for (const run of parts.flatMap(({ runs }) => runs)) {
    if (run.formats.includes('monospace')) continue;
    const inline = run.formats.filter((format) => /bold|italic|strike|code/.test(format));
    for (const [word] of run.text.matchAll(WORD)) formats.set(word, new Set(inline));
  }
  return formats;
}

const SAME_AS = new Map([
  ['bold', 'bold'],
  ['italic', 'italic'],
  ['strikethrough', 'strike'],
  ['code', 'code'],
]);

interface Meant {
  /** Formats that WhatsApp can show and that must therefore appear. */
  readonly must: readonly string[];
  /** The formats of the word in the source. */
  readonly may: readonly string[];
}

/**
 * Each word with its formats in the source. The expected formats are those that Telegram's strict
 * reader reports.
 */
function meantFormats(markdown: string): Map<string, Meant> {
  const formats = new Map<string, Meant>();
  for (const part of render(markdown, { dialect: 'telegram', maxLength: 100_000, unit: 'utf16' })) {
    const { text, entities } = parseTelegramHtml(part.text);
    for (const { 0: word, index } of text.matchAll(WORD)) {
      const over = entities.filter(
        ({ offset, length }) => offset <= index && index < offset + length,
      );
      // Code in a link would lose its format, so links are excluded; a table with links has another
      // form.
      if (over.some(({ type }) => type === 'text_link' || type === 'pre')) continue;
      const holding = over.filter(({ offset, length }) => isSimple(text, offset, offset + length));
      formats.set(word, { must: holding.flatMap(named), may: over.flatMap(named) });
    }
  }
  return formats;
}

function named({ type }: { readonly type: string }): string[] {
  return [SAME_AS.get(type) ?? []].flat();
}

/**
 * Whether the text consists of plain words with white space on both sides, where every mark works.
 */
function isSimple(text: string, from: number, to: number): boolean {
  const hasRoom = /^\s*$/.test((text[from - 1] ?? '') + (text[to] ?? ''));
  return hasRoom && /^[\w ]+$/.test(text.slice(from, to)) && !text.slice(from, to).includes('_');
}

describe('what is printed for WhatsApp', () => {
  it('[M03] is valid, within the limit, and does not lose or duplicate words', () => {
    fc.assert(
      fc.property(sampleDocument, limits, ({ markdown, words }, limit) => {
        const seen = essence(read(markdown, limit));
        expect(seen.match(/w\d+w/g) ?? []).toEqual(words);
      }),
      RUNS,
    );
  });

  it('[M01] shows each word in its format, whether split or not', () => {
    fc.assert(
      fc.property(sampleDocument, limits, ({ markdown }, limit) => {
        const shown = shownFormats(read(markdown, limit));
        for (const [word, { must, may }] of meantFormats(markdown)) {
          if (!shown.has(word)) continue;
          const formats = [...(shown.get(word) ?? [])];
          expect(formats, word).toEqual(expect.arrayContaining([...must]));
          expect(may, word).toEqual(expect.arrayContaining(formats));
        }
      }),
      RUNS,
    );
  });

  it('[M02] is valid and formats nothing by accident, however broken the Markdown', () => {
    fc.assert(
      fc.property(mutatedMarkdown, limits, (markdown, limit) => {
        const meant = meantFormats(markdown);
        for (const [word, formats] of shownFormats(read(markdown, limit))) {
          const written = meant.get(word);
          if (written !== undefined) {
            expect(written.may, word).toEqual(expect.arrayContaining([...formats]));
          }
        }
      }),
      RUNS,
    );
  });

  it('[M03] shows the same text whether it is split or not, however broken the Markdown', () => {
    fc.assert(
      fc.property(mutatedMarkdown, limits, (markdown, limit) => {
        const whole = essence(read(markdown, 1_000_000));
        const split = essence(read(markdown, limit));
        // The bars of a spoiler and the header of a table are repeated in every part.
        if (!markdown.includes('|')) expect(split).toBe(whole);
      }),
      RUNS,
    );
  });
});
