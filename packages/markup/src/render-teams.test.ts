import type { RenderTarget } from '@parley/core';
import { describe } from 'vitest';
import { createTextRenderer, itRenders, lines, type RenderCase } from './testing/render-cases.ts';

const TEAMS: RenderTarget = { dialect: 'teams', maxLength: 12_000, unit: 'utf16' };
const texts = createTextRenderer(TEAMS);

const shown: RenderCase[] = [
  ['each mark', '**b** *i* ~~s~~ `c`', '**b** *i* ~~s~~ `c`'],
  ['a heading as a bold line', '## A *b*', '**A *b***'],
  ['lists', '- a\n  1. b\n- c', '- a\n  1. b\n- c'],
  ['tasks as text', '- [x] a\n- [ ] b', '- ☑ a\n- ☐ b'],
  ['a rule as text', 'a\n\n---\n\nb', 'a\n\n———\n\nb'],
  ['a quote', '> a\nb', '> a  \n> b'],
  ['a quote in a quote as one', '> a\n>\n> > b', '> a\n>\n> b'],
  ['code with its language', '```js\na < b\n```', '```js\na < b\n```'],
  ['code with a fence in it', '````\n```\n````', '```\n`·`·`\n```'],
  ['a link', '[a `b`](https://e.org/x_y)', '[a b](https://e.org/x_y)'],
  ['a bare URL', 'See https://e.org/x_y', 'See [https://e.org/x\\_y](https://e.org/x_y)'],
  ['an address that Teams does not link', '[a](mailto:a@e.org)', 'a (mailto:a@e.org)'],
  ['a table as a grid', '|A|B|\n|-|-|\n|1|2|', lines('```', 'A  B', '─  ─', '1  2', '```')],
];

const literals: RenderCase[] = [
  ['words with underscores', 'snake_case_name', 'snake\\_case\\_name'],
  ['HTML, which Teams interprets', 'a <b>c</b> 1 < 2', 'a &lt;b>c&lt;/b> 1 &lt; 2'],
  ['character references', '&lt; AT&T', '&amp;lt; AT&T'],
  ['braces, which Teams once removed', '{a}', '\\{a}'],
  ['a quote', '\\> a', '&gt; a'],
  ['a heading', '\\# a', '\\# a'],
  ['lines of a table', 'a | b\n| \\- | - |', 'a | b  \n| \\- | - |'],
  ['tildes', '~20 ~\\~ a', '~20 \\~\\~ a'],
  ['a mention without its entity', '<at>Ada</at> @Ada', '&lt;at>Ada&lt;/at> @Ada'],
];

describe('Teams', () => {
  itRenders('[M01] shows %s', texts, shown);
  itRenders('[M02] [M05] shows literally: %s', texts, literals);
});
