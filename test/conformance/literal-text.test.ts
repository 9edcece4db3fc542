import {
  formatInlineCode,
  quoteLines,
  toDisplayText,
  toLiteralLine,
  toLiteralMarkdown,
} from '@parley/core';
import { toRunOptions } from '@parley/core/testing';
import { type PrintedTarget, render } from '@parley/markup';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DIALECTS, MAX_LENGTHS, READERS } from './markup/readers.ts';

type Dialect = PrintedTarget['dialect'];

/** The visible text and formatting of Markdown that fits into one message. */
function stretchesIn(dialect: Dialect, markdown: string) {
  const target = { dialect, maxLength: MAX_LENGTHS[dialect], unit: 'utf16' } as const;
  return render(markdown, target).flatMap(({ text, plain }) => READERS[dialect].read(text, plain));
}

/**
 * Removes the characters that printers insert as separators, and white space at the ends of lines.
 */
function seen(text: string): string {
  return (
    text
      .replace(/[\u200b\u2060]/g, '')
      // Discord shows a tab as spaces.
      .replaceAll('\t', '    ')
      .split('\n')
      .map((line) => line.trim())
      .join('\n')
      .trim()
  );
}

function readIn(dialect: Dialect, markdown: string): string {
  return seen(
    stretchesIn(dialect, markdown)
      .map(({ text }) => text)
      .join(''),
  );
}

const WRITTEN = [
  'green_tea',
  'green\\_tea',
  '[x]\\(y\\)',
  '[x](y)',
  '[a]: https://e.org',
  '\\d+\\.\\w*',
  '\\',
  '\\\\',
  '&lt;',
  '&nbsp;',
  '&amp;amp;',
  '&#39;',
  'AT&T',
  'a & b',
  '<b>bold</b>',
  '<u>',
  '<br>',
  '<!--',
  '</div>',
  '**a**',
  '*a',
  'a*',
  '_a_',
  '__init__',
  '~~a~~',
  '~a~',
  '`a`',
  '``',
  '```',
  '||a||',
  '|',
  '| a | b |',
  '# a',
  '#',
  '#tag',
  '-# a',
  '- a',
  '+ a',
  '* a',
  '1. a',
  '12) a',
  '> a',
  '>>> a',
  '---',
  '===',
  '***',
  '@everyone',
  '@here',
  '@alice_b',
  '<@123456789012345678>',
  '<#1>',
  '<t:1700000000:R>',
  ':smile:',
  '$x$',
  '$$y$$',
  '\\(x\\)',
  '\\[x\\]',
  'https://e.org/a_b?c=1&amp;d=2',
  'www.e.org',
  'a@e.org',
  '[^1]',
  '![a](b)',
  '[ ] a',
  '[x] a',
  '¯\\_(ツ)_/¯',
  'C:\\new\\_x',
  '日本「語」',
  '**「注意」**',
  'שלום (עולם)',
  'مرحبا',
  '👩‍🚀',
  '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  '👍🏽',
  'é',
  '\u00a0x',
  ' a',
  '    a',
  'a ',
  '\ta',
  'a  b',
  '',
];
const SIGNS = [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'];
const word = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...WRITTEN) },
  { weight: 2, arbitrary: fc.constantFrom(...SIGNS) },
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const written = fc
  .array(fc.tuple(word, fc.constantFrom('', ' ', '\n')), { minLength: 1, maxLength: 8 })
  .map((pieces) => pieces.flat().join(''))
  // Characters that no platform shows are always removed.
  .filter(
    (text) =>
      toDisplayText(text) === text && seen(text) !== '' && !/[\u200b\u2060\ufeff]/.test(text),
  );
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();
const line = written.map(oneLine).filter((text) => seen(text) !== '');
const LINES = WRITTEN.map(oneLine)
  .filter((text) => seen(text) !== '')
  .map((text): [string] => [text]);
const RUNS = 400;

describe.each(DIALECTS)('%s', (dialect) => {
  it('[M01] [M05] shows literal text exactly, both alone and between words', () => {
    const examples = WRITTEN.filter((text) => seen(text) !== '').map((text): [string] => [text]);
    fc.assert(
      fc.property(written, (text) => {
        expect(readIn(dialect, toLiteralMarkdown(text))).toBe(seen(text));
        expect(readIn(dialect, `a ${toLiteralMarkdown(text)} b`)).toBe(seen(`a ${text} b`));
      }),
      toRunOptions(RUNS, examples),
    );
  });

  it('[M01] [M05] shows literal text exactly in bold, in a list item and in a quotation', () => {
    fc.assert(
      fc.property(line, (text) => {
        expect(readIn(dialect, `**${toLiteralLine(text)}** a`)).toBe(seen(`${text} a`));
        const items = readIn(
          dialect,
          `- ${toLiteralMarkdown(text)}\n- ${toLiteralMarkdown(text)}: a`,
        );
        expect(items.replace(/^[•-] ?/gm, '')).toBe(`${seen(text)}\n${seen(`${text}: a`)}`);
        expect(
          readIn(dialect, quoteLines(toLiteralMarkdown(text))).replace(
            dialect === 'plain' ? /^> / : /^(?!)/,
            '',
          ),
        ).toBe(seen(text));
      }),
      toRunOptions(RUNS, LINES),
    );
  });

  it('[M01] [M05] shows inline code exactly', () => {
    fc.assert(
      fc.property(line, (text) => {
        expect(readIn(dialect, `a ${formatInlineCode(text)} b`)).toBe(seen(`a ${text} b`));
      }),
      toRunOptions(RUNS, LINES),
    );
  });

  it.each([
    ['text', '&lt;div&gt; &amp; &nbsp;| &#39;&#x27; &copy;'],
    ['a heading', '# &lt;h1&gt;', '&lt;h1&gt;'],
    ['bold', '**&lt;b&gt;** &lt;', '&lt;b&gt; &lt;'],
    ['a list', '- &lt;li&gt;', '&lt;li&gt;'],
    ['code', '`&lt;`', '&lt;'],
    ['a code block', '```html\n&lt;p&gt;\n```', '&lt;p&gt;'],
    ['HTML', '<p>&lt;</p>', '<p>&lt;</p>'],
    ['the text of a link', '[&lt;a&gt;](https://e.org)', '&lt;a&gt;'],
    ['the name of a picture', '![&lt;a&gt;](https://e.org)', '&lt;a&gt;'],
    ['a table', '| &lt; | b |\n|---|---|\n| &amp;lt; | &gt; |', '&lt;'],
  ])(
    '[M01] shows character references in an answer as written: %s',
    (_what, markdown, shown = markdown) => {
      expect(readIn(dialect, markdown)).toContain(shown);
    },
  );

  it("[M01] resolves the character references in a link's address", () => {
    const shown = stretchesIn(dialect, '[a &amp; b](https://e.org/?a=1&amp;b=2)');
    const links = shown.map(({ link }) => link?.url).filter((url) => url !== undefined);
    const text = shown.map((stretch) => stretch.text).join('');
    expect(text).toContain('a &amp; b');
    expect(links.length > 0 ? links[0] : text).toContain('https://e.org/?a=1&b=2');
  });
});
