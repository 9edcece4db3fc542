import { type RenderTarget, render, renderPrefix } from '@parley/markup';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTelegramHtml } from '../platforms/telegram/parse-html.ts';
import { mutatedMarkdown, sampleDocument } from './markdown-arbitrary.ts';

const telegram = (maxLength: number): RenderTarget => ({
  dialect: 'telegram',
  maxLength,
  unit: 'utf16',
});
const limits = fc.integer({ min: 48, max: 700 });
const RUNS = { numRuns: 250 };

/** Renders, has every part read by the strict parser and returns what people see of each. */
function shownParts(markdown: string, maxLength: number): string[] {
  return render(markdown, telegram(maxLength)).map((part) => {
    const { text, entities } = parseTelegramHtml(part.text);
    expect(text.length).toBeLessThanOrEqual(maxLength);
    expect(part.plain.length).toBeLessThanOrEqual(maxLength);
    expect(text.trim()).not.toBe('');
    expect(entities.length).toBeLessThanOrEqual(100);
    expect(text.isWellFormed()).toBe(true);
    return text;
  });
}

/** Content without white space and without what the renderer adds: bullets, numbers. */
function essence(parts: readonly string[]): string {
  return parts.map((part) => part.replace(/[\s•☐☑]|(?<!\S)\d+\.(?!\S)/g, '')).join('');
}

describe('Telegram parts of generated Markdown', () => {
  it('[M03] are legal, within the limit, and lose or double no word', () => {
    fc.assert(
      fc.property(sampleDocument, limits, ({ markdown, words, headers }, limit) => {
        const seen = essence(shownParts(markdown, limit));
        expect(seen.match(/w\d+w/g) ?? []).toEqual(words);
        for (const header of headers) expect(seen).toContain(header);
      }),
      RUNS,
    );
  });

  it('[M03] keep every word in the plain fallback too', () => {
    fc.assert(
      fc.property(sampleDocument, limits, ({ markdown, words }, limit) => {
        const seen = essence(render(markdown, telegram(limit)).map(({ plain }) => plain));
        expect(seen.match(/w\d+w/g) ?? []).toEqual(words);
      }),
      RUNS,
    );
  });

  it('[M03] show the same text split as unsplit, however broken the Markdown', () => {
    fc.assert(
      fc.property(mutatedMarkdown, limits, (markdown, limit) => {
        const whole = shownParts(markdown, 1_000_000).join('\n');
        const split = essence(shownParts(markdown, limit));
        if (!markdown.includes('|')) expect(split).toBe(essence([whole]));
        // A table's header comes again in every part, so only its presence can be compared.
        else for (const word of whole.split(/\s+/)) expect(split).toContain(essence([word]));
      }),
      RUNS,
    );
  });

  it('[M03] are legal for an answer cut anywhere', () => {
    fc.assert(
      fc.property(mutatedMarkdown, fc.nat(), limits, (markdown, cut, limit) => {
        const prefix = markdown.slice(0, cut % (markdown.length + 1));
        const { text } = parseTelegramHtml(renderPrefix(prefix, telegram(limit)));
        expect(text.length).toBeLessThanOrEqual(limit);
      }),
      RUNS,
    );
  });
});
