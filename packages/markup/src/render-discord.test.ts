import type { RenderTarget } from '@parley/core';
import { toLiteralMarkdown } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { render } from './render.ts';

/** Whitespace that Markdown itself would drop. */
const SPACE = toLiteralMarkdown(' ');

const DISCORD: RenderTarget = { dialect: 'discord', maxLength: 2000, unit: 'utf16' };
const one = (markdown: string, more: Partial<RenderTarget> = {}) =>
  render(markdown, { ...DISCORD, ...more }).map(({ text }) => text);
const lines = (...all: string[]) => all.join('\n');
/** An invisible character that separates two characters, or keeps a name from being recognized. */
const ZW = '\u200b';

type Row = [what: string, markdown: string, discord: string];

const marks: Row[] = [
  ['each mark', '**b** *i* ~~s~~ `c` <u>u</u> ||p||', '**b** *i* ~~s~~ `c` __u__ ||p||'],
  ['marks in marks', '**a *b* c**', '**a *b* c**'],
  ['marks that begin together', '***a* b** and ***a** b*', '***a* b** and ***a** b*'],
  ['marks that end together', '**a *b*** and *a **b***', '**a *b*** and *a **b***'],
  ['both marks on the same text', '***a***', '***a***'],
  ['a mark in a word', '**a**b', '**a**b'],
  ['marks beside each other, kept apart', '**a***b* *a***b**', `**a**${ZW}*b* *a*${ZW}**b**`],
  ['a mark beside strike-through, kept apart', '~~a~~<u>b</u>', `~~a~~${ZW}__b__`],
  ['space at the edge of a mark outside of it', `**a${SPACE}**b`, '**a** b'],
  ['a mark over lines', '**a\nb**', '**a\nb**'],
  ['marks round code', '**run `npm i` now**', '**run `npm i` now**'],
  ['code that would end a mark, without that mark', '*a `2*3` b*', '*a* `2*3` *b*'],
  ['a tilde at the end of strike-through, kept apart', '~~a\\~~~', `~~a~${ZW}~~`],
  ['code that ends with a backslash', '**a `b\\`**', '**a `b\\`**'],
  [
    'an address that would end a mark, without that mark',
    '**a https://e.org/b\\ c**',
    '**a** https://e.org/b\\ **c**',
  ],
  ['a backslash at the end of a mark', '**a\\\\**', '**a\\\\**'],
  ['code with a backtick', '`` a`b ``', '``a`b``'],
  ['code of backticks', '`` ` `` and ``` `` ```', '`` ` `` and ` `` `'],
  ['code with runs of one and two backticks', '``` a`b``c ```', `\`\`a\`b\`${ZW}\`c\`\``],
];

const literals: Row[] = [
  ['stars between spaces', '2 * 3 * 4', '2 * 3 * 4'],
  ['a lone star', '2*3', '2\\*3'],
  ['stars that would be a mark', 'a\\*b\\* c', 'a\\*b* c'],
  ['a star behind a mark', '**a**\\* b', '**a**\\* b'],
  ['an underscore behind strike-through', '~~a~~\\_b', '~~a~~\\_b'],
  ['a star in italic text', '*2 \\* 3*', '*2 \\* 3*'],
  ['underscores in words', 'snake_case_name and foo_bar', 'snake_case_name and foo_bar'],
  ['underscores that would be a mark', '\\_a_ \\_\\_init\\_\\_', '\\_a\\_ \\_\\_init\\_\\_'],
  ['an underscore that a later one would close', 'a_b and c\\_ d', 'a\\_b and c\\_ d'],
  ['double underscores in words', 'a\\_\\_b\\_\\_c', 'a\\_\\_b\\_\\_c'],
  ['a logical or', 'a || b', 'a \\|\\| b'],
  ['two logical ors', 'a || b || c', 'a \\|\\| b \\|\\| c'],
  ['tildes', 'a ~ b ~~ c', 'a ~ b \\~\\~ c'],
  ['backticks', '\\`a\\`', '\\`a\\`'],
  ['backslashes', 'C:\\\\dir and \\\\*', 'C:\\dir and \\\\*'],
  ['a shrug', '¯\\\\\\_(ツ)\\_/¯', '¯\\\\\\_(ツ)\\_/¯'],
  ['HTML', '<b>x</b> 1 < 2', '\\<b>x\\</b> 1 < 2'],
  ['what would be a link', '\\[a](https://e.org)', '\\[a]\\(https://e.org)'],
  ['brackets', 'a[0] (b)', 'a[0] (b)'],
  [
    'a hash, a dash, a number and a quote mark at a line start',
    '\\# a\n\\- b\n1\\. c\n\\> d',
    '\\# a\n\\- b\n1\\. c\n\\> d',
  ],
  ['a hash behind space in a mark', `**${SPACE}\\# a**`, ' **\\# a**'],
  ['a hash at a line start in a mark', '**\\# a**', '**\\# a**'],
  ['a word that Discord takes for a command', '@silent a', `@${ZW}silent a`],
  ['the same in a line', 'x # a - b 1. c > d', 'x # a - b 1. c > d'],
  ['what is no heading and no list', '#tag -x 1.5 2)', '#tag -x 1.5 2)'],
  ['small print', '\\-# a', '\\-# a'],
  ['the name of an emoji', 'ok :smile: 10:30', 'ok \\:smile: 10:30'],
  ['a path with colons', 'a::b::c', 'a:\\:b::c'],
];

const links: Row[] = [
  ['a link', '[a b](https://e.org/?x=1&y=2)', '[a b](https://e.org/?x=1&y=2)'],
  ['parentheses in an address', '[a](https://e.org/b_(c))', '[a](https://e.org/b_(c))'],
  [
    'parentheses in parentheses encoded',
    '[a](<https://e.org/(b(c))>)',
    '[a](https://e.org/%28b%28c%29%29)',
  ],
  ['signs in an address encoded', '**[a](https://e.org/b**c)**', '**[a](https://e.org/b%2A%2Ac)**'],
  [
    'what would end a mark encoded',
    '<u>[a](https://e.org/b__c~~d)</u>',
    '__[a](https://e.org/b_%5Fc~%7Ed)__',
  ],
  ['the end of a link encoded', '[a](<https://e.org/](b)>)', '[a](https://e.org/%5D(b))'],
  [
    'a backslash in an address as browsers read it',
    '[a](<https://e.org/b\\\\_c>)',
    '[a](https://e.org/b/_c)',
  ],
  ['the address behind a text without a letter', '[→](https://e.org)', '→ (https://e.org)'],
  ['the address behind a text with signs', '[a\\*b](https://e.org)', 'a\\*b (https://e.org)'],
  [
    'the address behind a text with an underscore at the end of a word',
    '[a\\_ b](https://e.org)',
    'a\\_ b (https://e.org)',
  ],
  [
    'the address behind a text with tildes',
    '[a\\~\\~b](https://e.org)',
    'a\\~\\~b (https://e.org)',
  ],
  [
    'the address behind a text with the name of an emoji',
    '[a :ok: b](https://e.org)',
    'a \\:ok: b (https://e.org)',
  ],
  [
    'the address behind a text that is a mention',
    '[\\<#1>](https://e.org)',
    '\\<#1> (https://e.org)',
  ],
  [
    'no marks where their signs would touch',
    '[x **a***b*](https://e.org)',
    '[x ab](https://e.org)',
  ],
  ['no marks beside a sign', '[a ~~b\\~~~](https://e.org)', '[a b~](https://e.org)'],
  ['marks round a link', '**[a](https://e.org)**', '**[a](https://e.org)**'],
  ['marks and code in a link', '[**a** `b`](https://e.org)', '[**a** `b`](https://e.org)'],
  [
    'the address behind a text with an emoji, because Discord makes no link of it',
    '[👍 yes](https://e.org)',
    '👍 yes (https://e.org)',
  ],
  ['the address behind a text with brackets', '[a\\[1\\]](https://e.org)', 'a[1] (https://e.org)'],
  [
    'a text that is another address',
    '[https://a.org](https://b.org)',
    'https://a.org (https://b.org)',
  ],
  ['a relative address', '[a](src/b.ts)', 'a (src/b.ts)'],
  [
    'a bare address',
    'See https://e.org/a_b, (https://e.org).',
    'See https://e.org/a_b, (https://e.org).',
  ],
  ['a bare address before a mark', '<https://e.org>**b**', '<https://e.org>**b**'],
  ['what a backslash would make an address', 'https://e<.org', 'https\\://e\\<.org'],
  ['a scheme before an escaped sign', '(https://`\n\n`a`', '(https\\://\\`\n\n`a`'],
  ['what a mark would make an address', 'https://e<u>b</u>', 'https\\://e__b__'],
  ['a bare address in a mark', '**https://e.org**', '**https://e.org**'],
  [
    'a bare address before a bracket and a mark',
    '<https://e.org/>)**b**',
    '<https://e.org/>)**b**',
  ],
  ['a bare address before HTML', '<https://e.org><b>', '<https://e.org>\\<b>'],
  [
    'an address that would end a link',
    '[a](https://e.org) <https://e.org/](b>',
    '[a](https://e.org) https\\://e.org/]\\(b',
  ],
  [
    'bars in and before a text with its address behind it',
    '\\|[\\|👍](https://e.org)',
    '\\|\\|👍 (https://e.org)',
  ],
  ['a bare address before the name of an emoji', '<https://e.org>:ok:', '<https://e.org>\\:ok:'],
  ['a bracket that is no part of an address', 'http://e.org/a_(b)) c', 'http://e.org/a_(b)) c'],
  ['a bare address with its last dot', '<https://e.org/a.>', '<https://e.org/a.>'],
  ['an image as a link', '![alt](https://e.org/i.png)', '[alt](https://e.org/i.png)'],
  [
    'code behind a link with a bracket in its address',
    '[a](https://e.org/[b) `](c)`',
    '[a](https://e.org/[b) `](c)`',
  ],
  [
    'code behind a link and a bracket',
    '[a](https://e.org) `[` `](b)`',
    '[a](https://e.org) `[` `](b)`',
  ],
  [
    'code behind a link that would end it',
    '[a](https://e.org) `](b)`',
    `[a](https://e.org) \`]${ZW}(b)\``,
  ],
];

const blocks: Row[] = [
  ['headings down to the third level', '# A\n## B\n### C\n#### D', '# A\n## B\n### C\n**D**'],
  ['a heading that begins and ends with a hash', '# \\#1 C\\#', `# \\#1 C#${ZW}`],
  ['a heading with a list marker in it', '# 1\\. A', '# 1\\. A'],
  ['a heading over two lines', 'a\nb\n===', '# a\n# b'],
  ['a heading over two lines and an empty one', '# a<br><br>b', '# a\n# b'],
  ['a heading in a list as a bold line', '- # A', '- **A**'],
  ['line breaks and empty lines', 'a\nb  \nc\n\nd', 'a\nb\nc\n\nd'],
  ['a line without the space at its end', `a${SPACE}\nb`, 'a\nb'],
  ['a thematic break', 'a\n\n---\n\nb', 'a\n\n———\n\nb'],
  ['lists', '- a\n  b\n- c\n  - d', '- a\n  b\n- c\n  - d'],
  ['numbers from where they start', '3. a\n3. b', '3. a\n4. b'],
  ['a list from 0, which Discord has not', '0. a\n1. b', '0\\. a\n1. b'],
  [
    'items indented as far as the first marker',
    '9. a\n10. b\n    - c\n      - d',
    '9. a\n10. b\n   - c\n     - d',
  ],
  ['mixed lists', '1. a\n   - b\n     1. c', '1. a\n   - b\n     1. c'],
  ['two lists apart', '- a\n\n1. b', '- a\n\n1. b'],
  ['two lists in an item apart', '- a\n  - b\n  1. c', `- a\n  - b\n  ${ZW}\n  1. c`],
  ['loose lists', '1. a\n\n2. b', '1. a\n\n2. b'],
  ['a line of an item that begins with a sign', '- a\n  **b**', `- a\n  ${ZW}**b**`],
  ['a line of an item that begins with an emoji', '- a\n  👍', `- a\n  ${ZW}👍`],
  ['a line of an item that begins with what may be an address', '- a\n  b:c', `- a\n  ${ZW}b:c`],
  ['a line of an item that begins with a number', '- a\n  1\\. b', `- a\n  ${ZW}1. b`],
  ['a line of an item that begins with a hash', '- a\n  \\# b', `- a\n  ${ZW}# b`],
  ['a line of an item that begins with space', `- a\n  ${SPACE}b`, '- a\n  b'],
  ['a paragraph with space behind a list', `- a\n\n${SPACE}b`, '- a\n\n b'],
  ['HTML with space behind a list', '- a\n <div>', '- a\n\n \\<div>'],
  ['two quotes apart', '> a\n\n> b', '> a\n\n> b'],
  ['an item that begins with space', `- ${SPACE}a`, '- a'],
  ['quotes in an item apart', '- > a\n\n  > b', `- \n  > a\n  ${ZW}\n  > b`],
  ['paragraphs in an item', '- a\n\n  b', '- a\n   \n  b'],
  ['a paragraph behind a nested list', '- a\n  - b\n\n  c', '- a\n  - b\n  c'],
  ['a blank line at the end of an item', `- a\n${SPACE}\n> b`, '- a\n> b'],
  ['a blank line in an item', `- a\n${SPACE}\n  b`, '- a\n   \n  b'],
  ['a marker in an item', '- \\- a', '- \\- a'],
  ['an empty item', '- a\n-\n- b', `- a\n- ${ZW}\n- b`],
  ['a list in a list at once', '- - a', '- \n  - a'],
  ['tasks', '- [x] a\n- [ ] b', '- ☑ a\n- ☐ b'],
  ['numbered tasks', '1. [x] a', '1. ☑ a'],
  ['a footnote', 'a[^n]\n\n[^n]: b', 'a[n]\n\n[n] b'],
  ['a quote', '> a\n>\n> - b', '> a\n> \n> - b'],
  ['quotes in quotes as one', '> a\n> > b', '> a\n> b'],
  ['a quote in a list', '- a\n  > b', '- a\n  > b'],
  ['a quote at the beginning of an item', '- > a', '- \n  > a'],
  ['code in a quote', '> ```js\n> a\n>\n> b\n> ```', '> ```js\n> a\n> \n> b\n> ```'],
  ['code', '```js\na < *b*\n```', '```js\na < *b*\n```'],
  ['a language that is no word', '```a"b\nc\n```', '```\nc\n```'],
  ['a fence in code', '````md\n```\n````', `\`\`\`md\n\`${ZW}\`${ZW}\`\n\`\`\``],
  ['code in a list', '- a\n  ```\n  b\n\n  c\n  ```', '- a\n  ```\n  b\n   \n  c\n  ```'],
  ['a table as a grid', '|A|B|\n|-|-|\n|1|2|', lines('```', 'A  B', '─  ─', '1  2', '```')],
];

const LONG = 'B'.repeat(40);

describe('Discord', () => {
  it.each(marks)('[M01] shows %s', (_, markdown, discord) => {
    expect(one(markdown)).toEqual([discord]);
  });

  it.each(literals)('[M02] escapes possible markup: %s', (_, markdown, discord) => {
    expect(one(markdown)).toEqual([discord]);
  });

  it.each(links)('[M01] formats links: %s', (_, markdown, discord) => {
    expect(one(markdown)).toEqual([discord]);
  });

  it.each(blocks)('[M01] lays out %s', (_, markdown, discord) => {
    expect(one(markdown)).toEqual([discord]);
  });

  it('[M02] shows a table that is too wide for a phone as a list', () => {
    expect(one(`|A|${LONG}|\n|-|-|\n|1|2|`)).toEqual([`- **A**: 1\n  ${ZW}**${LONG}**: 2`]);
  });

  const mentions = '@everyone <@1> <@!2> <@&3> <#4> </a b:5> <t:6:R> <:x:7>';

  it('[M05] does not notify anyone or contain text that Discord would replace', () => {
    const dead = `@${ZW}everyone \\<@${ZW}1> \\<@${ZW}!2> \\<@${ZW}&3> \\<#4> \\</a b:5> \\<t:6:R> \\<\\:x:7>`;
    expect(one(mentions)).toEqual([dead]);
  });

  it('[M05] keeps mentions unchanged when the target allows live ones', () => {
    expect(one(mentions, { mentions: 'live' })).toEqual([mentions.replace('<:x', '\\<\\:x')]);
  });

  it('[M05] does not change text in code that looks like a mention', () => {
    expect(one('`<@1> @here`')).toEqual(['`<@1> @here`']);
  });

  it('[M03] does not show the language when a part contains only the blank beginning of the code', () => {
    const parts = one('w0w w1w\n\n```c++\n\tif (w2w) { return "x"; }\nw3w\n```', { maxLength: 20 });
    expect(parts[0]).not.toContain('c++');
    expect(parts[1]).toBe('```c++\nif (w2w) \n```');
  });

  it.each([[''], [' \n\t'], ['\u200b'], ['```js\n```'], ['> \u200b']])(
    'sends nothing for %j, which Discord would refuse as empty',
    (markdown) => {
      expect(one(markdown)).toEqual([]);
    },
  );

  it('[M03] formats at most 199 ranges per message, because Discord shows messages with more of them unformatted', () => {
    const parts = one('**a** '.repeat(240));
    expect(parts.map((part) => part.split('**a**').length - 1)).toEqual([199, 41]);
  });

  it.each([
    '- a\n\nb\n\n',
    '> a\n\nb\n\n',
    '# a\n\n',
    '`a` ',
    '<https://e.org> ',
    '[a](https://e.org) ',
  ])('[M03] counts this as a formatted range: %j', (markdown) => {
    expect(one(markdown.repeat(240), { maxLength: 20_000 })).toHaveLength(2);
  });

  it('[M03] shows lists deeper than Discord parses with bullets as text', () => {
    const nested = Array.from({ length: 12 }, (_, level) => `${'  '.repeat(level)}- a`);
    expect(one(nested.join('\n'))[0]).toContain(`\n${'  '.repeat(11)}• a`);
  });

  it('[M03] counts emoji as formatted ranges', () => {
    const parts = one('👍'.repeat(300));
    expect(parts.map((part) => [...part].length)).toEqual([199, 101]);
  });

  it('[M03] continues an item in the next part at its number and without its bullet', () => {
    const parts = one(`4. ${'a '.repeat(12)}\n5. ${'b '.repeat(12)}\n   - c`, { maxLength: 32 });
    expect(parts).toEqual([`4. ${'a '.repeat(12).trim()}`, `5. ${'b '.repeat(12).trim()}`, '- c']);
  });
});
