import { type RenderTarget, toLiteralMarkdown } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { printGfm } from './print/common-mark.ts';
import { render } from './render.ts';
import {
  createBoldLeaf,
  createTextRenderer,
  itRenders,
  lines,
  type RenderCase,
} from './testing/render-cases.ts';

const GFM: RenderTarget = { dialect: 'gfm', maxLength: 65_536, unit: 'utf16' };
const texts = createTextRenderer(GFM);

const unchanged: [what: string, markdown: string][] = [
  ['marks', '**b** *i* ~~s~~ `c` **`d`**'],
  ['marks in words', 'un**believ**able **a *b* c**'],
  ['headings of all levels', '# a\n\n###### b'],
  ['links', '[a **b** `c`](https://e.org/a_b?x=1&y=2)'],
  ['bare URLs', 'See <https://e.org/a_b>.'],
  ['code with a language', '```js\na < b && `c`\n```'],
  ['code with a fence in it', '````md\n```\n````'],
  ['lists', '- a\n- b\n  - c\n    1. d\n    2. e\n\n       f'],
  ['tasks', '- [x] a\n- [ ] b\n  1. [x] c'],
  ['quotes', '> a\n>\n> > b\n>\n> - c'],
  ['tables', '| a | b |\n| :-- | --: |\n| 1 | **2** [c](https://e.org) |\n|  | \\| |'],
  ['line breaks', 'a  \nb'],
  ['code in lists', '- a\n  ```\n  b\n  ```\n- c'],
];

const shown: RenderCase[] = [
  ['underlined and hidden text without a mark', '<u>a</u> ||b||', 'a b'],
  ['a rule that cannot be an underline or an item', 'a\n\n---\n\nb', 'a\n\n___\n\nb'],
  ['every line break as one', 'a\nb<br>c', 'a  \nb  \nc'],
  ['a line break in a table', '|a|\n|-|\n|b<br>c|', '| a |\n| --- |\n| b<br>c |'],
  ['a heading of two lines on one', 'a\nb\n===', '# a b'],
  ['lists next to each other', '- a\n\n\n* b', '- a\n\n* b'],
  ['numbers that do not count up by one', '1. a\n3. b\n7. c', '1. a\n\n3) b\n\n7. c'],
  ['an empty item', '- a\n-\n- b', '- a\n- ·\n- b'],
  ['a footnote', 'a[^n]\n\n[^n]: b', 'a\\[n\\]\n\n\\[n\\] b'],
  ['an image as a link', '![i](https://e.org/i.png)', '[i](https://e.org/i.png)'],
  ['an e-mail address', 'Mail a.b@e.org', 'Mail <a.b@e.org>'],
  ['a link after an exclamation mark', 'Hi\\![a](https://e.org)', 'Hi\\![a](https://e.org)'],
  ['an address with brackets', '[a](<https://e.org/(b) c>)', '[a](https://e.org/%28b%29%20c)'],
  ['a relative address after its text', '[a](src/b_c.ts)', 'a (src/b_c.ts)'],
  ['code with backticks', '`` a`b `` ``` `` ```', '``a`b`` ` `` `'],
  ['a bar in the code of a table', '|a|\n|-|\n|`b \\| c`|', '| a |\n| --- |\n| `b \\| c` |'],
  ['marks beside punctuation', '**a.**b **「注意」**です', '**a.·**b **「注意」·**です'],
  ['marks beside each other', '**a***b* *c*~~d~~', '**a**·*b* *c*~~d~~'],
];

const literals: RenderCase[] = [
  ['marks', '\\*a\\* \\_b\\_ \\~c\\~ \\`d\\`', '\\*a\\* \\_b\\_ \\~c\\~ \\`d\\`'],
  ['names, which are none', 'snake_case_name 2 * 3', 'snake_case_name 2 \\* 3'],
  [
    'headings, quotes and items',
    '\\# a\n\\> b\n\\- c\n\\+ d\n1\\. e',
    lines('\\# a  ', '\\> b  ', '\\- c  ', '\\+ d  ', '1\\. e'),
  ],
  ['lines of signs', '\\===\n\\---', '\\===  \n\\---'],
  ['links', '\\[a](b) \\[^1] \\!\\[c](d)', '\\[a\\](b) \\[^1\\] !\\[c\\](d)'],
  ['HTML', 'a <b> </c> <!-- d --> 1 < 2', 'a \\<b> \\</c> \\<!-- d --> 1 < 2'],
  ['character references', '&lt; &#39; AT&T', '\\&lt; \\&#39; AT&T'],
  ['tables', 'a | b\n:-', 'a \\| b  \n\\:-'],
  ['dollars', '$5 and $10', '\\$5 and \\$10'],
  ['backslashes', 'C:\\new', 'C:\\\\new'],
  [
    'URLs in literal text',
    toLiteralMarkdown('https://e.org/a_b www.e.org'),
    'https\\://e.org/a_b www\\.e.org',
  ],
  ['names of emoji', ':smile: :+1: 10:30:45', ':·smile: :·+1: 10:30:45'],
];

const mentions: RenderCase[] = [
  ['people and teams', '@ada, @org/team (@bo)', '@·ada, @·org/team (@·bo)'],
  ['names of one letter', '@a', '@·a'],
  ['names with marks', '@**ada**', '@·**ada**'],
  ['names in the text of a link', '[@ada](https://e.org)', '[@·ada](https://e.org)'],
  ['names of footnotes', '[^@ada]: x', '\\[@·ada\\] x'],
  ['names in tables', '|@ada|\n|-|', '| @·ada |\n| --- |'],
  ['names as literal text', toLiteralMarkdown('@ada'), '@·ada'],
  ['code, which notifies nobody', '`npm i @types/node`', '`npm i @types/node`'],
  [
    'profiles on Linear',
    'https://linear.app/acme/profiles/ada',
    'https\\://linear.app/·acme/profiles/ada',
  ],
  [
    'links to profiles on Linear',
    '[Ada](https://linear.app/acme/profiles/ada)',
    'Ada (https\\://linear.app/·acme/profiles/ada)',
  ],
];

describe('GitHub Flavored Markdown', () => {
  it.each(unchanged)('[M01] stays as it is: %s', (_, markdown) => {
    expect(texts(markdown)).toEqual([markdown]);
  });

  itRenders('[M01] shows %s', texts, shown);
  itRenders('[M02] shows literally: %s', texts, literals);
  itRenders('[M05] notifies no one: %s', texts, mentions);

  it('[M05] keeps mentions when the settings allow them', () => {
    const target = { ...GFM, mentions: 'live' } as const;
    expect(render('@ada @org/team', target)[0]?.text).toBe('@ada @org/team');
  });

  it('[M03] repeats the header of a table and continues numbers in the next part', () => {
    expect(texts('|a|b|\n|-|-|\n|1|2|\n|3|4|', { maxLength: 40 })).toEqual([
      '| a | b |\n| --- | --- |\n| 1 | 2 |',
      '| a | b |\n| --- | --- |\n| 3 | 4 |',
    ]);
    expect(texts('1. aaaaaa\n2. bbbbbb\n3. cccccc', { maxLength: 24 })).toEqual([
      '1. aaaaaa\n2. bbbbbb',
      '3. cccccc',
    ]);
  });

  it('[M03] does not indent the continuation of an item from an earlier part', () => {
    expect(texts('1. aaaa bbbb cccc\n   - dddd\n2. eeee', { maxLength: 18 })).toEqual([
      '1. aaaa bbbb cccc',
      '- dddd\n\n2. eeee',
    ]);
  });

  it.each(['*a_ `~', '![a<', '  \n'])('[M06] prints a very long run of %j', (pattern) => {
    const text = pattern.repeat(20_000);
    const printed = printGfm([createBoldLeaf(text)]).text.replaceAll(
      /[\u200b\s]|\\(?=[^\\])|^\*\*|\*\*$/g,
      '',
    );
    expect(printed).toBe(text.replaceAll(/\s/g, ''));
  });
});
