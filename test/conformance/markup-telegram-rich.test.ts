import { render } from '@parley/markup';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTelegramHtml } from '../../packages/simulators/src/telegram/parse-html.ts';
import { RequestParams } from '../../packages/simulators/src/telegram/request.ts';
import { getRichText, parseRichMessage } from '../../packages/simulators/src/telegram/rich.ts';
import { mutatedMarkdown, sampleDocument } from './markdown-arbitrary.ts';
import { RUN_LENGTH, TIMEOUT } from './markup/run-length.ts';

const ordinary = { dialect: 'telegram', maxLength: 4_096, unit: 'utf16' } as const;
const target = { ...ordinary, rich: true } as const;

/** Random text combined with constructs that are common in answers and need a rich message. */
const needing: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('# T\n\n', '|a|b|\n|-|-|\n|1|2|\n\n', '$x_1$\n\n', ''), mutatedMarkdown)
  .map(([before, text]) => before + text);

/**
 * The blocks of a rich message as read by the double's strict reader, which throws on anything that
 * Telegram refuses.
 */
function blocksOf(html: string): unknown {
  const shown = parseRichMessage(new RequestParams({ rich_message: { html } }));
  return shown?.rich_message;
}

const letters = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, '');

describe('rich messages on Telegram', () => {
  it('[F18] [M06] are accepted by a strict reader for any Markdown', {
    timeout: TIMEOUT,
  }, () => {
    fc.assert(
      fc.property(needing, (markdown) => {
        for (const { rich } of render(markdown, target)) {
          if (rich !== undefined) blocksOf(rich);
        }
      }),
      RUN_LENGTH,
    );
  });

  it('[M03] [M04] show the same words as their ordinary fallback messages', {
    timeout: TIMEOUT,
  }, () => {
    fc.assert(
      fc.property(sampleDocument, ({ markdown }) => {
        for (const { rich, text } of render(`# Title\n\n${markdown}`, target)) {
          const simple = parseTelegramHtml(text).text;
          expect([...simple].length).toBeLessThanOrEqual(4_096);
          // Skips tables, because an ordinary message may repeat their column names in each row.
          if (rich === undefined || rich.includes('<table') || rich.includes('<details')) continue;
          const blocks = (blocksOf(rich) as { blocks: unknown }).blocks;
          expect(letters(getRichText(blocks))).toBe(letters(simple));
        }
      }),
      RUN_LENGTH,
    );
  });
});
