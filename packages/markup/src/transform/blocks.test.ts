import { describe, expect, it } from 'vitest';
import { render } from '../render.ts';

const show = (markdown: string) =>
  render(markdown, { dialect: 'telegram', maxLength: 4096, unit: 'utf16' })
    .map(({ text }) => text)
    .join('');

const table: [what: string, markdown: string, shown: string][] = [
  ['underlined headings', 'A\n===\nb\n---', '<b>A</b>\n<b>b</b>'],
  ['a rule right behind lines or a sentence', 'a\nb\n---\nc.\n---', 'a\nb\n———\nc.\n———'],
  ['signs on a line of their own', 'Yours\n--\nB\n\n2 + 3\n=\n5', 'Yours\n--\nB\n\n2 + 3\n=\n5'],
  ['numbers of answers', '1. B\n3. C\n4. D\n7. A', '1. B\n3. C\n4. D\n7. A'],
  ['a countdown', '3. a\n2. b\n1. c', '3. a\n2. b\n1. c'],
  ['numbers that say nothing', '1. a\n1. b\n2. c', '1. a\n2. b\n3. c'],
  ['no heading without text', '#\n\na\n\n##\n\nb', 'a\n\nb'],
  ['seven signs as text', '####### a\n#b', '####### a\n#b'],
  [
    'code in lists, however it is indented',
    '- a\n   ```js\n   b\n    c\n   ```\n- d',
    '• a\n<pre><code class="language-js">b\n c</code></pre>\n• d',
  ],
  [
    'code that ends a list item for want of indent',
    '1. a\n ```\n b\n ```\n2. c',
    '1. a\n<pre>b</pre>\n2. c',
  ],
  ['items without text', '- \n-\n- b\n- #', '•\n•\n• b\n•'],
  ['an item of code without text', '1. ```\n   ```\n2. b', '1.\n2. b'],
  ['numbers from 0', '0. a\n1. b', '0. a\n1. b'],
  ['numbers with brackets', '7) a\n8) b', '7. a\n8. b'],
  ['the highest number', '999999999. a\n1. b', '999999999. a\n1000000000. b'],
  [
    'lists in lists',
    '1. a\n   - b\n     1. c\n        - [x] d\n2. e',
    '1. a\n   • b\n     1. c\n        ☑ d\n2. e',
  ],
  ['numbered tasks', '1. [x] a\n   1. [ ] b', '1. ☑ a\n     1. ☐ b'],
  ['boxes without text', '- [ ]\n- [x]', '• [ ]\n• [x]'],
  [
    'quotes with lists and code',
    '> - a\n>   ```\n>   b\n>   ```\n> 1. c',
    '<blockquote>• a\n<pre>b</pre>\n1. c</blockquote>',
  ],
  [
    'the empty line behind a list in a quote',
    '> - a\n>   - b\n>\n> c\n>\n> - d\n>\n> e',
    '<blockquote>• a\n  • b\n\nc\n\n• d\n\ne</blockquote>',
  ],
  [
    'quotes in quotes',
    '> a\n> > b\n> > > - c\n>\n> d',
    '<blockquote>a\n&gt; b\n&gt; &gt; • c\n\nd</blockquote>',
  ],
  ['lists with quotes', '- > a\n  > b\n- c', '•\n<blockquote>a\nb</blockquote>\n• c'],
  ['an empty quote as nothing', 'a\n\n>\n\nb', 'a\n\nb'],
  [
    'HTML with its indent',
    '<div>\n  <i>*a*</i>\n</div>',
    '&lt;div&gt;\n  &lt;i&gt;*a*&lt;/i&gt;\n&lt;/div&gt;',
  ],
  [
    'definitions in use as nothing',
    'a [b]\n\n[b]: https://e.org "t"\n\nc',
    'a <a href="https://e.org">b</a>\n\nc',
  ],
  ['definitions nobody uses', '[a]: https://e.org "t"', '[a]: https://e.org &quot;t&quot;'],
  [
    'footnotes',
    'a[^1] b[^Long]\n\n[^1]: c *d*\n[^long]: e\n\n    f',
    'a[1] b[Long]\n\n[1] c <i>d</i>\n[long] e\n\n    f',
  ],
  ['footnotes nobody refers to', 'a\n\n[^1]: b', 'a\n\n[1] b'],
  ['references to no footnote', 'a[^1]', 'a[^1]'],
  [
    'an unclosed fence to the end',
    '```py\na\n\n# b',
    '<pre><code class="language-py">a\n\n# b</code></pre>',
  ],
  ['code by indent', 'a\n\n    b\n\n     c', 'a\n\n<pre>b\n\n c</pre>'],
];

describe('blocks', () => {
  it.each(table)('[M01] shows %s', (_, markdown, shown) => {
    expect(show(markdown)).toBe(shown);
  });
});
