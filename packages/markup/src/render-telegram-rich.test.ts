import { describe, expect, it } from 'vitest';
import { render } from './render.ts';

const ordinary = { dialect: 'telegram', maxLength: 4_096, unit: 'utf16' } as const;
const target = { ...ordinary, rich: true } as const;
const rich = (markdown: string) => render(markdown, target).map((part) => part.rich);

const needed: [what: string, markdown: string, html: string][] = [
  ['a heading', '# Plan\n\nGo.', '<h1>Plan</h1><p>Go.</p>'],
  ['a deep heading with marks', '###### a *b* `c`', '<h6>a <i>b</i> <code>c</code></h6>'],
  [
    'a table',
    '|a|b|\n|:-|-:|\n|1|**2**|',
    '<table bordered><tr><th align="left">a</th><th align="right">b</th></tr>' +
      '<tr><td align="left">1</td><td align="right"><b>2</b></td></tr></table>',
  ],
  ['a formula in a text', 'so $x_1^2$ it is', '<p>so <tg-math>x_1^2</tg-math> it is</p>'],
  ['a formula in brackets', 'so \\(x < 1\\)', '<p>so <tg-math>x &lt; 1</tg-math></p>'],
  ['a formula of its own', '$$\nE = mc^2\n$$', '<tg-math-block>E = mc^2</tg-math-block>'],
  ['one in square brackets', '\\[ a + b \\]', '<tg-math-block>a + b</tg-math-block>'],
  [
    'a fold',
    '<details><summary>More & more</summary>\n\nHidden *text*.\n\n</details>\n\nAfter.',
    '<details><summary>More &amp; more</summary><p>Hidden <i>text</i>.</p></details><p>After.</p>',
  ],
  [
    'all else beside one',
    '# T\n\n- [x] a\n- [ ] b\n\n3. c\n   - d\n\n> q\n\n```js\na < b\n```\n\n---\n\n[l](https://e.org/?a&b)',
    '<h1>T</h1><ul><li><input type="checkbox" checked><p>a</p></li>' +
      '<li><input type="checkbox"><p>b</p></li></ul>' +
      '<ol><li value="3"><p>c</p><ul><li><p>d</p></li></ul></li></ol>' +
      '<blockquote><p>q</p></blockquote><pre><code class="language-js">a &lt; b</code></pre>' +
      '<hr/><p><a href="https://e.org/?a&amp;b">l</a></p>',
  ],
  ['a line end', '# a\n\nb  \nc', '<h1>a</h1><p>b<br>c</p>'],
  ['a name that would ping', '# @ann', '<h1>@\u200bann</h1>'],
];

const unneeded: [what: string, markdown: string][] = [
  ['text with marks', '**a** _b_ ~~c~~ [d](https://e.org) `e`'],
  ['lists, quotes and code', '- a\n  1. b\n\n> c\n\n```\nd\n```'],
  ['prices', 'from $5 to $10'],
  ['a sign that is no formula', 'count(*) and **/*.js'],
  ['HTML', '<b>a</b>\n\n<details>\n\nb'],
  ['half a fold', 'a\n\n</details>'],
];

describe('a rich message on Telegram', () => {
  it.each(needed)('[F18] shows %s', (_, markdown, html) => {
    expect(rich(markdown)).toEqual([html]);
  });

  it.each(unneeded)('[F18] is not used for %s', (_, markdown) => {
    expect(render(markdown, target)).toEqual(render(markdown, ordinary));
  });

  it.each(needed)('[M04] can be sent as an ordinary message instead: %s', (_, markdown) => {
    const parts = render(markdown, target).map(({ text, plain }) => ({ text, plain }));
    expect(parts).toEqual(render(markdown, ordinary));
  });

  it('[F18] is used only when requested, and only for Telegram', () => {
    expect(render('# a', ordinary)[0]).not.toHaveProperty('rich');
    const discord = { dialect: 'discord', maxLength: 2_000, unit: 'utf16', rich: true } as const;
    expect(render('# a', discord)[0]).not.toHaveProperty('rich');
  });

  it.each([
    ['21 columns', `|${'a|'.repeat(21)}\n|${'-|'.repeat(21)}\n|${'1|'.repeat(21)}`],
    ['501 rows', `|a|\n|-|\n${'|1|\n'.repeat(501)}`],
    ['17 levels', `# a\n\n${'> '.repeat(17)}b`],
  ])("[F18] is not used beyond Telegram's limits: %s", (_, markdown) => {
    expect(rich(markdown)).toEqual(rich(markdown).map(() => undefined));
  });

  it('[M03] splits at the same positions, and repeats the header of each table', () => {
    const rows = Array.from({ length: 300 }, (_, row) => `|${row}|${'word '.repeat(5)}|`);
    const parts = render(`# Table\n\n|n|words|\n|-|-|\n${rows.join('\n')}`, target);
    expect(parts.length).toBeGreaterThan(2);
    for (const { rich: html = '', plain } of parts) {
      expect(plain.length).toBeLessThanOrEqual(4_096);
      expect(html).toContain('<th>n</th><th>words</th>');
    }
    const shown = parts.flatMap(({ rich: html = '' }) => [...html.matchAll(/<td>(\d+)<\/td>/g)]);
    expect(shown.map(([, n]) => Number(n))).toEqual(rows.map((_, row) => row));
  });

  it('[M03] continues an item of the previous part without a bullet', () => {
    const long = `1. ${'a'.repeat(4_000)}\n\n   ${'b'.repeat(400)}\n2. # c`;
    const [, second] = render(long, target);
    expect(second?.rich).toBe(`<p>${'b'.repeat(400)}</p><ol><li value="2"><h1>c</h1></li></ol>`);
  });
});
