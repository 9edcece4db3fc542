import { type RenderTarget, render } from '@parley/markup';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mutatedMarkdown, sampleDocument } from './markdown-arbitrary.ts';
import { readStrictHtml } from './strict-html.ts';

const limits = fc.integer({ min: 200, max: 2_000 });
const units = fc.constantFrom('utf16', 'codepoint', 'byte');
const RUNS = { numRuns: 200 };

const LENGTH: Record<RenderTarget['unit'], (text: string) => number> = {
  utf16: (text) => text.length,
  codepoint: (text) => [...text].length,
  byte: (text) => Buffer.byteLength(text),
};

/** The parts' texts, after a check that text and fallback are within the limit. */
function parts(markdown: string, target: RenderTarget): string[] {
  return render(markdown, target).map(({ text, plain }) => {
    expect(LENGTH[target.unit](text)).toBeLessThanOrEqual(target.maxLength);
    expect(LENGTH[target.unit](plain)).toBeLessThanOrEqual(target.maxLength);
    return text;
  });
}

/** Without what the renderer adds in front of lines: space, bullets, quote marks. */
const words = (text: string) => text.replace(/[\s•☐☑>]/g, '').match(/w\d+w/g) ?? [];

describe('plain text of generated Markdown', () => {
  it('[M03] is within the limit and loses or doubles no word', () => {
    fc.assert(
      fc.property(sampleDocument, limits, units, (sample, maxLength, unit) => {
        const target: RenderTarget = { dialect: 'plain', maxLength, unit };
        expect(words(parts(sample.markdown, target).join(''))).toEqual(sample.words);
      }),
      RUNS,
    );
  });
});

describe('web HTML of generated Markdown', () => {
  it('[M03] is well-formed, within the limit, and loses or doubles no word', () => {
    fc.assert(
      fc.property(sampleDocument, limits, units, (sample, maxLength, unit) => {
        const target: RenderTarget = { dialect: 'html', maxLength, unit };
        const seen = parts(sample.markdown, target).map(readStrictHtml).join('');
        expect(words(seen)).toEqual(sample.words);
      }),
      RUNS,
    );
  });

  it('is well-formed and harmless, however broken the Markdown', () => {
    fc.assert(
      fc.property(mutatedMarkdown, limits, units, (markdown, maxLength, unit) => {
        for (const part of parts(markdown, { dialect: 'html', maxLength, unit })) {
          readStrictHtml(part);
        }
      }),
      RUNS,
    );
  });
});
