import type { RenderTarget } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { render } from './render.ts';

const HTML: RenderTarget = { dialect: 'html', maxLength: 20_000, unit: 'utf16' };
const REL = 'rel="noopener noreferrer nofollow"';

const table: [what: string, markdown: string, html: string][] = [
  [
    'marks',
    '**a** *b* ~~c~~ `d` ||e||',
    '<p><strong>a</strong> <em>b</em> <del>c</del> <code>d</code> <span class="spoiler">e</span></p>',
  ],
  ['headings', '### a', '<h3>a</h3>'],
  ['line breaks', 'a\nb', '<p>a<br>b</p>'],
  [
    'links',
    '[a](https://e.org/?b="c")',
    `<p><a href="https://e.org/?b=&quot;c&quot;" ${REL}>a</a></p>`,
  ],
  ['mail links', '[a](mailto:a@e.org)', `<p><a href="mailto:a@e.org" ${REL}>a</a></p>`],
  [
    'images as links',
    '![a](https://e.org/i.png)',
    `<p><a href="https://e.org/i.png" ${REL}>a</a></p>`,
  ],
  ['nested lists', '- a\n  - b\n- c', '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>'],
  ['numbers', '3. a\n4. b', '<ol><li value="3">a</li><li value="4">b</li></ol>'],
  [
    'tasks',
    '- [x] a\n- [ ] b',
    '<ul><li><input type="checkbox" disabled checked> a</li><li><input type="checkbox" disabled> b</li></ul>',
  ],
  [
    'footnotes with a name instead of a bullet',
    'a[^1]\n\n[^1]: b',
    '<p>a[1]</p><ul><li class="continued">[1] b</li></ul>',
  ],
  ['quotes', '> a\n> > b', '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>'],
  ['code', '```ts\na < b\n```', '<pre><code class="language-ts">a &lt; b</code></pre>'],
  [
    'tables',
    '|a|b|\n|-|-:|\n|*c*|d|',
    '<table><thead><tr><th>a</th><th class="right">b</th></tr></thead><tbody><tr><td><em>c</em></td><td class="right">d</td></tr></tbody></table>',
  ],
  ['rules', '---', '<hr>'],
];

const harmless: [what: string, markdown: string, html: string][] = [
  ['script tags', '<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
  ['event handlers', '<img src=x onerror=alert(1)>', '<p>&lt;img src=x onerror=alert(1)&gt;</p>'],
  ['script addresses', '[a](javascript:alert%281%29)', '<p>a (javascript:alert%281%29)</p>'],
  ['disguised script addresses', '[a](&#106;ava&#x09;script:x)', '<p>a (javascript:x)</p>'],
  ['data addresses', '![a](data:text/html,x)', '<p>a (data:text/html,x)</p>'],
  ['protocol-relative addresses', '[a](//e.org)', '<p>a (//e.org)</p>'],
  ['languages that break out', '```"><b>\na\n```', '<pre><code>a</code></pre>'],
];

describe('web HTML', () => {
  it.each(table)('[M01] shows %s', (_, markdown, html) => {
    expect(render(markdown, HTML).map(({ text }) => text)).toEqual([html]);
  });

  it.each(harmless)('shows %s as text', (_, markdown, html) => {
    expect(render(markdown, HTML).map(({ text }) => text)).toEqual([html]);
  });

  it('[M03] continues a numbered list in the next part with the next number', () => {
    const parts = render('7. aaaa\n8. bbbb', { ...HTML, maxLength: 40 });
    expect(parts.map(({ text }) => text)).toEqual([
      '<ol><li value="7">aaaa</li></ol>',
      '<ol><li value="8">bbbb</li></ol>',
    ]);
  });
});
