import type { RenderTarget } from '@parley/core';
import { toLiteralMarkdown } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { printWhatsApp } from './print/whatsapp.ts';
import { render } from './render.ts';
import {
  createBoldLeaf,
  createTextRenderer,
  itRenders,
  lines,
  type RenderCase,
} from './testing/render-cases.ts';

/** Whitespace that Markdown itself would drop. */
const SPACE = toLiteralMarkdown(' ');

const WHATSAPP: RenderTarget = { dialect: 'whatsapp', maxLength: 4096, unit: 'utf16' };
const texts = createTextRenderer(WHATSAPP);

const marks: RenderCase[] = [
  ['each mark', '**b** *i* ~~s~~ `c`', '*b* _i_ ~s~ `c`'],
  ['marks in marks', '**a *b* c** *d ~~**e**~~*', '*a _b_ c* _d ~*e*~_'],
  ['marks beside punctuation', '(**a**), "*b*"; **c:** d', '(*a*), "_b_"; *c:* d'],
  ['no mark inside a word', 'un**believ**able', 'unbelievable'],
  ['no mark with a letter outside', '**a**b c**d** `e`s', 'ab cd es'],
  ['no mark that only some clients show', '中文**粗体** 👍**a**', '中文粗体 👍a'],
  ['punctuation outside where only then a mark holds', '`x`**: y**', '`x`: *y*'],
  ['white space outside of a mark', `**a${SPACE}** b`, '*a*  b'],
  ['marks line by line', '**a\nb**  \n*c*', '*a*\n*b*\n_c_'],
  ['no mark round its own marker', '**2 \\* 3** *a\\_b*', '2 * 3 a_b'],
  ['code without other marks', '**a `b` c**', '*a* `b` *c*'],
  ['code with markers inside', '`__init__` `*a*`', '`__init__` `*a*`'],
  ['code with a backtick inside as text', '`` a`b ``', 'a`b'],
  ['underlined text without a mark', '<u>a</u> b', 'a b'],
  ['a spoiler with its bars', 'It was ||the **butler**||.', 'It was ||the *butler*||.'],
  ['a heading as a bold line', '## A *b* `c` d', '*A _b_* `c` *d*'],
  ['right-to-left text', '**שלום** *עולם*', '*שלום* _עולם_'],
];

const links: RenderCase[] = [
  ['a link with its address', '[a](https://e.org/?x=1)', 'a (https://e.org/?x=1)'],
  ['a marked link', '**[a](https://e.org)**', '*a* (https://e.org)'],
  ['a bare address untouched', 'See https://e.org/_a_/*b*.', 'See https://e.org/_a_/*b*.'],
  ['a host with a path untouched', 'e.org/\\_a\\_/~c~', 'e.org/_a_/~c~'],
  [
    'no mark on an address',
    '**a https://e.org/x b** *https://e.org*',
    '*a* https://e.org/x *b* https://e.org',
  ],
  [
    'no mark on a host with a path before another address',
    '# e.org/a)(https://e.org',
    'e.org/a)(https://e.org',
  ],
  ['an image as its name and address', '![i](https://e.org/i.png)', 'i (https://e.org/i.png)'],
  ['a footnote', 'a[^n]\n\n[^n]: b', 'a[n]\n\n[n] b'],
];

const accidents: RenderCase[] = [
  ['stars', '\\*foo\\* bar', '¦*foo* bar'],
  ['each marker', '\\_a\\_ \\~b\\~ \\`c\\`', '¦_a_ ¦~b~ ¦`c`'],
  ['double markers', '\\_\\_init\\_\\_', '¦_¦_init__'],
  ['a star before a mark', '\\*a and **b**', '¦*a and *b*'],
  ['a fence in text', 'a \\`\\`\\` b', 'a ¦`¦`¦` b'],
  ['a mark beside Chinese text', '中\\*文\\*字', '中¦*文*字'],
  ['arithmetic, which is none', '2 * 3 * 4 = 2*12', '2 * 3 * 4 = 2*12'],
  ['names, which are none', 'snake_case_name ~5 \\_private', 'snake_case_name ~5 _private'],
  ['one marker alone, which is none', '5\\* hotel, 4\\* too, \\*new', '5* hotel, 4* too, *new'],
  ['the name of a footnote', '[^*a*]: b', '[¦*a¦*] b'],
  ['a quote', '\\> a', '¦> a'],
  ['items', '\\- a\n\\* b\nc\n12. May', '¦- a\n¦* b\nc\n¦12. May'],
  ['a year, which is none', 'a\n2024. A year', 'a\n2024. A year'],
];

const blocks: RenderCase[] = [
  ['lists', '- a\n- b\n\n3. c\n4. d', '- a\n- b\n\n3. c\n4. d'],
  [
    'nested lists with an indent, since WhatsApp has one level',
    '- a\n  b\n  - c\n    1. d\n- e',
    '- a\n    b\n    • c\n        1. d\n- e',
  ],
  ['tasks', '- [x] a\n- [ ] b\n\n1. [ ] c', '☑ a\n☐ b\n\n1. ☐ c'],
  ['an empty item', '- a\n-\n- b', '- a\n•\n- b'],
  ['a quote on every line', '> a\nb\n>\n> c', '> a\n> b\n> ¦\n> c'],
  [
    'a list in a quote with no-break spaces, since two spaces end a quote',
    '> - a\n>   - b',
    '> • a\n> \u00a0\u00a0\u00a0\u00a0• b',
  ],
  ['a quote in a list', '- a\n  > b\n- > c', '- a\n> b\n•\n> c'],
  ['code without its language', '```js\na *b*\n\n  c\n```', '```a *b*\n\n  c```'],
  ['code in a list', '- ```\n  a\n  ```', '•\n```a```'],
  ['code in a quote line by line', '> ```\n> a\n>\n>   b\n> ```', '> ```a```\n> ¦\n> ```  b```'],
  ['code with a fence inside', '````\n```\n````', '```¦`¦`¦`¦```'],
  ['code that begins with a backtick', '```\n`a` b\n```', '```¦`a` b```'],
  ['a thematic break', 'a\n\n---\n\nb', 'a\n\n———\n\nb'],
  [
    'a table as a grid',
    '|Name|Qty|\n|:-|-:|\n|水|10|\n|**b**\\||2|',
    lines('```Name  Qty', '────  ───', '水     10', 'b|      2```'),
  ],
  [
    'a wide table as a list',
    `|A|${'B'.repeat(40)}|\n|-|-|\n|1|2|\n||3|`,
    lines('- *A*: 1', `    *${'B'.repeat(40)}*: 2`, `- *${'B'.repeat(40)}*: 3`),
  ],
];

describe('WhatsApp', () => {
  itRenders('[M01] shows %s', texts, [...marks, ...links, ...blocks]);
  itRenders('[M02] creates no mark by accident: %s', texts, accidents);

  it.each([[''], ['\u200b'], ['```js\n```'], ['> \u200b']])('sends nothing for %j', (markdown) => {
    expect(texts(markdown)).toEqual([]);
  });

  it('[M03] closes and reopens marks, fences and quotes at the end of a part', () => {
    expect(texts('> **aaaa bbbb cccc dddd**', { maxLength: 20 })).toEqual([
      '> *aaaa bbbb cccc*',
      '> *dddd*',
    ]);
    expect(texts('```js\naaaa bbbb\ncccc dddd\n```', { maxLength: 20 })).toEqual([
      '```aaaa bbbb```',
      '```cccc dddd```',
    ]);
  });

  it('[M03] counts markers and the invisible characters that keep text literal', () => {
    const parts = render('\\*a\\* **b** '.repeat(50), { ...WHATSAPP, maxLength: 64 });
    expect(parts.every(({ text }) => text.length <= 64)).toBe(true);
    expect(parts.map(({ plain }) => plain).join(' ')).toBe('*a* b '.repeat(50).trimEnd());
  });

  it('[M04] provides a plain fallback without markers', () => {
    expect(render('**a** \\*b\\*', WHATSAPP)[0]?.plain).toBe('a *b*');
  });

  it('[M06] prints a very long line of markers completely', () => {
    const text = '*a_ `~'.repeat(40_000);
    expect(printWhatsApp([createBoldLeaf(text)]).text.replaceAll('\u2060', '')).toBe(text);
  });
});
