import { type RenderTarget, toLiteralMarkdown } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { printSlack } from './print/slack.ts';
import { render } from './render.ts';
import {
  createBoldLeaf,
  createTextRenderer,
  itRenders,
  lines,
  type RenderCase,
  visible,
} from './testing/render-cases.ts';

const SLACK: RenderTarget = { dialect: 'slack', maxLength: 4_000, unit: 'utf16' };
const texts = createTextRenderer(SLACK);

const marks: RenderCase[] = [
  ['each mark', '**b** *i* ~~s~~ `c`', '*b* _i_ ~s~ `c`'],
  ['marks in marks', '**a *b* c**', '*a _b_ c*'],
  ['no mark inside a word', 'un**believ**able', 'unbelievable'],
  ['marks line by line', '**a\nb**', '*a*\n*b*'],
  ['underlined and hidden text without a mark', '<u>a</u> ||b|| c', 'a b c'],
  ['a heading as a bold line', '## A *b*', '*A _b_*'],
  ['code without other marks', '**a `b` c**', '*a* `b` *c*'],
];

const links: RenderCase[] = [
  ['a link', '[a & b](https://e.org/?x=1&y=2)', '<https://e.org/?x=1&amp;y=2|a &amp; b>'],
  ['a bare URL', 'See https://e.org/_a_b now', 'See <https://e.org/_a_b> now'],
  ['an e-mail address', 'a@e.org', '<mailto:a@e.org|a@e.org>'],
  ['a marked link', '**[a](https://e.org)** b', '*<https://e.org|a>* b'],
  ['a link in a mark', '*a [b](https://e.org) c*', '_a <https://e.org|b> c_'],
  ['a link without the marks in it', '[a **b** `c`](https://e.org)', '<https://e.org|a b c>'],
  ['a link of two lines on one', '[a\nb](https://e.org)', '<https://e.org|a b>'],
  ['the characters that end a link', '[a](<https://e.org/|x y>)', '<https://e.org/%7Cx%20y|a>'],
  ['a link whose text has a bar', '[a|b](https://e.org/@c)', 'a|b (<https://e.org/@c>)'],
  ['a relative address after its text', '[a](src/b.ts)', 'a (src/b.ts)'],
  ['an image as a link', '![i](https://e.org/i.png)', '<https://e.org/i.png|i>'],
];

const blocks: RenderCase[] = [
  ['lists as text', '- a\n- b\n\n3. c\n4. d', '• a\n• b\n\n3. c\n4. d'],
  ['nested lists with an indent', '- a\n  - b\n    1. c', '• a\n    • b\n        1. c'],
  ['tasks', '- [x] a\n- [ ] b', '☑ a\n☐ b'],
  ['a quote on every line', '> a\nb\n>\n> c', '> a\n> b\n> ¦\n> c'],
  ['code without its language', '```js\na < b && c\n```', '```\na &lt; b &amp;&amp; c\n```'],
  ['code in a quote outside of it', '> a\n> ```\n> b\n> ```\n> c', '> a\n```\nb\n```\n> c'],
  ['code with a fence in it', '````\n```\n````', '```\n`¦`¦`\n```'],
  ['a thematic break', 'a\n\n---\n\nb', 'a\n\n———\n\nb'],
  ['a footnote', 'a[^n]\n\n[^n]: b', 'a[n]\n\n[n] b'],
  ['a table as a grid', '|A|B|\n|-|-:|\n|1|2|', lines('```', 'A  B', '─  ─', '1  2', '```')],
];

const literals: RenderCase[] = [
  ['entities', 'a < b > c & d &lt;', 'a &lt; b &gt; c &amp; d &amp;lt;'],
  ['marks', '\\*a\\* \\_b\\_ \\~c\\~', '¦*¦a* ¦_¦b_ ¦~¦c~'],
  ['a quote', '\\> a', '¦&gt; a'],
  ['a quote without a space', '\\>a', '¦&gt;a'],
  ['names of emoji', ':smile: :+1: 10:30:45', ':·smile: :·+1: 10:30:45'],
  ['code', '`a & <b>` `:smile:`', '`a &amp; &lt;b&gt;` `:smile:`'],
];

const mentions: RenderCase[] = [
  [
    'everybody',
    '<!channel> <!here> <!everyone>',
    '&lt;·!channel&gt; &lt;·!here&gt; &lt;·!everyone&gt;',
  ],
  ['a person', '<@U123ABC>', '&lt;·@·U123ABC&gt;'],
  ['a group', '<!subteam^S1|x>', '&lt;·!subteam^S1|x&gt;'],
  ['names, which the Chat SDK would turn into mentions', '@ada (@bo) a@b', '@·ada (@·bo) a@b'],
  ['a name with marks', '@**ada**', '@·ada'],
  ['a token in code', '`<!channel>`', '`&lt;!channel&gt;`'],
  ['a token in a block of code', '```\n<@U1>\n```', '```\n&lt;@U1&gt;\n```'],
  ['a token in the text of a link', '[<!here>](https://e.org)', '<https://e.org|&lt;·!here&gt;>'],
  ['a token as an address', '[a](!channel)', 'a (!channel)'],
  ['a token as the name of a footnote', '[^<!here>]: a', '[&lt;·!here&gt;] a'],
  ['a token as literal text', toLiteralMarkdown('<!channel>'), '&lt;·!channel&gt;'],
  // After an odd number of backticks, the Chat SDK would not parse the text as code.
  ['code beside a backtick', '\\` `@ada`', '` `@·ada`'],
];

describe('Slack', () => {
  itRenders('[M01] shows %s', texts, [...marks, ...links, ...blocks]);
  itRenders('[M02] shows literally: %s', texts, literals);
  itRenders('[M05] notifies no one: %s', texts, mentions);

  it('[M05] keeps mentions, but no other tokens, when the settings allow mentions', () => {
    const text = '<@U1> <!channel> <!subteam^S1> <#C1|a> @ada <script> <!date^1^{x}|y> `<@U1>`';
    expect(texts(text, { mentions: 'live' })).toEqual([
      '<@U1> <!channel> <!subteam^S1> <#C1|a> @ada &lt;script&gt; &lt;!date^1^{x}|y&gt; `&lt;@U1&gt;`',
    ]);
  });

  it('[M03] counts entities and invisible characters', () => {
    const parts = render('& \\*a\\* '.repeat(100), { ...SLACK, maxLength: 100 });
    expect(parts.every(({ text }) => text.length <= 100)).toBe(true);
    expect(parts.map(({ plain }) => plain).join(' ')).toBe('& *a* '.repeat(100).trimEnd());
  });

  it('[M03] closes and reopens fences and links at the end of a part', () => {
    expect(texts('```\naaaa bbbb\ncccc dddd\n```', { maxLength: 20 })).toEqual([
      '```\naaaa bbbb\n```',
      '```\ncccc dddd\n```',
    ]);
  });

  it('[M04] [M05] has a plain fallback that notifies no one', () => {
    const [part] = render('**a** <!channel> `@ada` <@U1>', SLACK);
    expect(visible(part?.plain ?? '')).toBe('a <·!channel> @·ada <·@·U1>');
  });

  it.each(['*a_ `~', '<*@a ', ':a`'])('[M06] prints a very long line of %j', (pattern) => {
    const text = pattern.repeat(40_000);
    const printed = printSlack([createBoldLeaf(text)]).text.replaceAll(/[\u2060\u200b]/g, '');
    expect(printed.replaceAll('&lt;', '<')).toBe(text);
  });
});
