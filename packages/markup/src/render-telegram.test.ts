import type { RenderTarget } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { render } from './render.ts';

const TELEGRAM: RenderTarget = { dialect: 'telegram', maxLength: 4096, unit: 'utf16' };
const one = (markdown: string) => render(markdown, TELEGRAM).map(({ text }) => text);
const lines = (...all: string[]) => all.join('\n');

const table: [what: string, markdown: string, html: string][] = [
  ['marks', '**b** *i* ~~s~~ `c`', '<b>b</b> <i>i</i> <s>s</s> <code>c</code>'],
  ['marks in marks', '**a *b* c**', '<b>a <i>b</i> c</b>'],
  ['a spoiler', 'It was ||the butler||.', 'It was <tg-spoiler>the butler</tg-spoiler>.'],
  ['a logical or, which is no spoiler', 'a || b || c', 'a || b || c'],
  ['code without other marks', '**bold `code` bold**', '<b>bold </b><code>code</code><b> bold</b>'],
  ['special characters', '1 < 2 & "3" > 2', '1 &lt; 2 &amp; &quot;3&quot; &gt; 2'],
  ['HTML literally', '<b>x</b> <script>', '&lt;b&gt;x&lt;/b&gt; &lt;script&gt;'],
  ['a heading as a bold line', '# A *b*', '<b>A <i>b</i></b>'],
  [
    'a link',
    '[a](https://e.org/?x=1&y="2")',
    '<a href="https://e.org/?x=1&amp;y=&quot;2&quot;">a</a>',
  ],
  ['a link round code, without the code', '[`a`](https://e.org)', '<a href="https://e.org">a</a>'],
  ['a bare address', 'See https://e.org.', 'See <a href="https://e.org">https://e.org</a>.'],
  ['an address Telegram cannot open', '[a](src/b.ts)', 'a (src/b.ts)'],
  ['a host Telegram drops', '[a](http://localhost:3000)', 'a (http://localhost:3000)'],
  ['a mention link, which would ping', '[a](tg://user?id=1)', 'a (tg://user?id=1)'],
  ['a link by reference', '[a][1]\n\n[1]: https://e.org', '<a href="https://e.org">a</a>'],
  ['a definition nobody uses', '[note]: remember-this', '[note]: remember-this'],
  ['an image as a link', '![alt](https://e.org/i.png)', '<a href="https://e.org/i.png">alt</a>'],
  [
    'an image in a link',
    '[![alt](https://e.org/i.png)](https://e.org)',
    '<a href="https://e.org">alt</a>',
  ],
  ['line breaks as written', 'a\nb  \nc', 'a\nb\nc'],
  ['empty lines as written', '# A\nb\n\nc', '<b>A</b>\nb\n\nc'],
  ['a thematic break', 'a\n\n---\n\nb', 'a\n\n———\n\nb'],
  ['bullets', '- a\n  b\n- c\n  - d', '• a\n  b\n• c\n  • d'],
  ['numbers from where they start', '3. a\n3. b', '3. a\n4. b'],
  ['tasks', '- [x] a\n- [ ] b', '☑ a\n☐ b'],
  ['mixed lists', '1. a\n   - [ ] b\n     > c', '1. a\n   ☐ b\n<blockquote>c</blockquote>'],
  ['an empty item', '- a\n-\n- b', '• a\n•\n• b'],
  ['a quote', '> a\n>\n> - b', '<blockquote>a\n\n• b</blockquote>'],
  ['quotes in quotes in one block', '> a\n> > b', '<blockquote>a\n&gt; b</blockquote>'],
  [
    'two quotes',
    '> a\n\n<!-- -->\n\n> b',
    '<blockquote>a</blockquote>\n\n&lt;!-- --&gt;\n\n<blockquote>b</blockquote>',
  ],
  ['code', '```\na < b\n```', '<pre>a &lt; b</pre>'],
  ['code with a language', '```c++ x\na\n```', '<pre><code class="language-c++">a</code></pre>'],
  ['a language that is no word', '```a"b\nc\n```', '<pre>c</pre>'],
  ['an unclosed fence', '```\na', '<pre>a</pre>'],
  ['code in a list', '- ```\n  a\n  ```', '•\n<pre>a</pre>'],
  ['a fence with backticks inside', '````\n```\n````', '<pre>```</pre>'],
  ['a footnote', 'a[^n]\n\n[^n]: b', 'a[n]\n\n[n] b'],
  [
    'a table as a grid that counts wide characters twice',
    '|Name|Qty|\n|:-|-:|\n|水|10|\n|**b**\\||2|',
    lines('<pre>Name  Qty', '────  ───', '水     10', 'b|      2</pre>'),
  ],
  [
    'a wide table as a list',
    `|A|${'B'.repeat(40)}|\n|-|-|\n|1|2|\n||3|`,
    lines(`• <b>A</b>: 1`, `  <b>${'B'.repeat(40)}</b>: 2`, `• <b>${'B'.repeat(40)}</b>: 3`),
  ],
  [
    'a table with links as a list, so that no address is lost',
    '|A|\n|-|\n|[x](https://e.org)|',
    '• <b>A</b>: <a href="https://e.org">x</a>',
  ],
];

describe('Telegram', () => {
  it.each(table)('[M01] shows %s', (_, markdown, html) => {
    expect(one(markdown)).toEqual([html]);
  });

  it.each([[''], [' \n\t'], ['\u200b'], ['\u00a0'], ['```js\n```'], ['> \u200b']])(
    'sends nothing for %j, which Telegram would refuse as empty',
    (markdown) => {
      expect(one(markdown)).toEqual([]);
    },
  );

  it('[M04] provides a plain fallback that keeps URLs', () => {
    const [part] = render('**a** [b](https://e.org) <', TELEGRAM);
    expect(part?.plain).toBe('a b (https://e.org) <');
  });

  it('[M04] omits URLs from the fallback when they do not fit', () => {
    const url = `https://e.org/${'x'.repeat(50)}`;
    const [part] = render(`[b](${url})`, { ...TELEGRAM, maxLength: 32 });
    expect(part).toEqual({ text: `<a href="${url}">b</a>`, plain: 'b' });
  });

  it('formats at most 100 ranges per message, because Telegram ignores the rest', () => {
    const parts = one('**a** '.repeat(250));
    expect(parts.map((part) => part.split('<b>').length - 1)).toEqual([100, 100, 50]);
  });
});
