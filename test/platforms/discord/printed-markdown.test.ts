import { toLiteralMarkdown } from '@parley/core';
import { scaleRunCount } from '@parley/core/testing';
import { type RenderTarget, render } from '@parley/markup';
import { parseDiscordMarkdown } from '@parley/simulators/discord';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RUN_LENGTH, TIMEOUT } from '../../conformance/markup/run-length.ts';
import { readStrictHtml } from '../../conformance/strict-html.ts';

const DISCORD: RenderTarget = { dialect: 'discord', maxLength: 2000, unit: 'utf16' };
const HTML: RenderTarget = { dialect: 'html', maxLength: 1_000_000, unit: 'utf16' };
/** Code that contains one of these characters is printed without the marks it would end. */
const NONE: ReadonlySet<string> = new Set();
const MARKS = ['bold', 'italic', 'underline', 'strike', 'spoiler'];

const signs = fc.constantFrom(...'*_~|`<>[]()#-\\:@!'.split(''), '**', '__', '||', '```', '](');
const escaped = signs.map((text) => [...text].map((sign) => `\\${sign}`).join(''));
const words = fc.constantFrom(
  'a',
  'b c',
  'é',
  '中',
  'word:x',
  ' ',
  toLiteralMarkdown(' '),
  '1\\. ',
  '<@1>',
  ':ok:',
);
const mark = fc.constantFrom('**', '*', '~~', '||', '`', '<u>', '</u>');
const link = fc.constantFrom(
  '[a b](https://e.org)',
  '[**a**](https://e.org/b_(c))',
  ' https://e.org/a ',
);
const block = fc.constantFrom('\n', '\n\n', '\n- ', '\n> ', '\n2. ', '\n  - x', '\n## ');
const markdown = fc
  .array(fc.oneof(words, words, mark, escaped, escaped, link, block), {
    minLength: 2,
    maxLength: 24,
  })
  .map((parts) => `a${parts.join('')}`);

/** Every visible character, with its formats. */
function charactersOf(runs: readonly { text: string; formats: ReadonlySet<string> | undefined }[]) {
  return runs.flatMap(({ text, formats }) => {
    const isCode = formats?.has('code') === true;
    const names = isCode ? ['code'] : MARKS.filter((format) => formats?.has(format));
    return [...text]
      .filter((each) => !/[\s\p{Default_Ignorable_Code_Point}]/u.test(each))
      .map((each) => `${each} ${names.join(' ')}`.trim());
  });
}

describe('what is printed for Discord', () => {
  it(
    '[M01] [M02] is shown as intended, whatever characters are combined',
    () => {
      fc.assert(
        fc.property(markdown, (source) => {
          const messages = render(source, DISCORD).map(({ text }) => parseDiscordMarkdown(text));
          expect(messages.flatMap(({ violations }) => violations)).toEqual([]);
          const meant = render(source, HTML).flatMap(({ text }) => readStrictHtml(text));
          const seen = messages
            .flatMap(({ runs }) => runs)
            .flatMap((run) => [{ text: run.marker, formats: NONE }, run]);
          expect(charactersOf(seen)).toEqual(charactersOf(meant));
        }),
        RUN_LENGTH.seed === undefined ? RUN_LENGTH : { ...RUN_LENGTH, numRuns: scaleRunCount(600) },
      );
    },
    TIMEOUT,
  );
});
