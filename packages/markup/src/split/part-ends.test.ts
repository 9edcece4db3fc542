import type { RenderTarget } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { render } from '../render.ts';

const texts = (markdown: string, maxLength: number, more: Partial<RenderTarget> = {}) =>
  render(markdown, { dialect: 'telegram', maxLength, unit: 'utf16', ...more }).map(
    ({ text }) => text,
  );

type Case = [what: string, markdown: string, maxLength: number, parts: string[]];

const headings: Case[] = [
  [
    'goes with the next paragraph',
    'aaaa bbbb cccc dddd\n\n# H\n\neeee',
    24,
    ['aaaa bbbb cccc dddd', '<b>H</b>\n\neeee'],
  ],
  [
    'takes the beginning of a long paragraph with it',
    '# H\n\naaaa bbbb cccc dddd',
    16,
    ['<b>H</b>\n\naaaa bbbb', 'cccc dddd'],
  ],
  [
    'takes the first lines of code with it',
    '# H\n\n```\naaaa\nbbbb\ncccc\n```',
    16,
    ['<b>H</b>\n\n<pre>aaaa\nbbbb</pre>', '<pre>cccc</pre>'],
  ],
  [
    'takes the next heading with it',
    'aaaa bbbb cccc\n\n# H\n\n## I\n\ndddd',
    24,
    ['aaaa bbbb cccc', '<b>H</b>\n\n<b>I</b>\n\ndddd'],
  ],
  [
    'takes the beginning of a word that no part can hold with it',
    `# H\n\n${'a'.repeat(20)}`,
    16,
    [`<b>H</b>\n\n${'a'.repeat(13)}`, 'aaaaaaa'],
  ],
];

const fullness: Case[] = [
  [
    'the next paragraph is begun in a part that is less than half full',
    'aaaa\n\nBbbb bbbb. Cccc cccc.',
    20,
    ['aaaa\n\nBbbb bbbb.', 'Cccc cccc.'],
  ],
  [
    'a code block too',
    'aaaa\n\n```\nbbbb\ncccc\ndddd\neeee\n```',
    19,
    ['aaaa\n\n<pre>bbbb\ncccc</pre>', '<pre>dddd\neeee</pre>'],
  ],
  [
    'a table too, with the header in both parts',
    'aaaa\n\n|H|\n|-|\n|bb|\n|cc|\n|dd|',
    17,
    ['aaaa\n\n<pre>H\n──\nbb\ncc</pre>', '<pre>H\n──\ndd</pre>'],
  ],
  [
    'a word that no part can hold too',
    `aaaa\n\n${'b'.repeat(20)}`,
    16,
    ['aaaa\n\nbbbbbbbbbb', 'bbbbbbbbbb'],
  ],
  [
    'what announces the next block stays with it if there is a choice',
    'aaaa bbbb\n\ncccc\n\nRun:\n\n```\ndddd eeee\n```',
    24,
    ['aaaa bbbb\n\ncccc', 'Run:\n\n<pre>dddd eeee</pre>'],
  ],
];

const going: Case[] = [
  [
    'an ordered list with its numbers',
    '7. aaaa\n8. bbbb\n9. cccc',
    16,
    ['7. aaaa\n8. bbbb', '9. cccc'],
  ],
  [
    'an ordered list inside an item',
    '7. aaaa bbbb cccc\n8. dddd',
    16,
    ['7. aaaa bbbb', '   cccc\n8. dddd'],
  ],
  [
    'a quote',
    '> aaaa bbbb cccc dddd',
    16,
    ['<blockquote>aaaa bbbb cccc</blockquote>', '<blockquote>dddd</blockquote>'],
  ],
  [
    'a quote in a list in a quote',
    '> - aaaa\n>   - bbbb\n>   - cccc',
    20,
    ['<blockquote>• aaaa\n  • bbbb</blockquote>', '<blockquote>  • cccc</blockquote>'],
  ],
  [
    'code in a list',
    '- a\n  ```js\n  bbbb\n  cccc\n  ```',
    16,
    [
      '• a\n<pre><code class="language-js">bbbb</code></pre>',
      '<pre><code class="language-js">cccc</code></pre>',
    ],
  ],
];

describe('a part', () => {
  it.each(headings)(
    '[M03] does not end with a heading, which %s',
    (_, markdown, maxLength, parts) => {
      expect(texts(markdown, maxLength)).toEqual(parts);
    },
  );

  it.each(fullness)('[M03] is not nearly empty: %s', (_, markdown, maxLength, parts) => {
    expect(texts(markdown, maxLength)).toEqual(parts);
  });

  it.each(going)('[M03] continues with %s', (_, markdown, maxLength, parts) => {
    expect(texts(markdown, maxLength)).toEqual(parts);
  });

  it('[M03] shows a row as a list only if no part can hold it, or all rows if no part can hold the header', () => {
    const page = { dialect: 'html', unit: 'utf16' } as const;
    const rows = `|H|I|\n|-|-|\n|a|${'long '.repeat(30)}|\n|b|c|`;
    const long = texts(rows, 150, page);
    expect(long[0]).toContain('<ul><li><strong>H</strong>: a<br><strong>I</strong>: long');
    expect(long.at(-1)).toMatch(/<table>.*<th>I<\/th>.*<td>b<\/td><td>c<\/td>/);
    const tall = texts(`|${'H'.repeat(150)}|\n|-|\n|a|\n|b|`, 150, page).join('');
    expect(tall).not.toContain('<table>');
    expect(tall.match(/H{60,}/g)?.length).toBeGreaterThanOrEqual(2);
    expect(tall).toMatch(/: a<.*: b</);
  });
});
