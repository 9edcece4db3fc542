import type { RenderTarget } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../capabilities.ts';
import { render } from '../render.ts';

const texts = (markdown: string, maxLength: number, more: Partial<RenderTarget> = {}) =>
  render(markdown, { dialect: 'telegram', maxLength, unit: 'utf16', ...more }).map(
    ({ text }) => text,
  );

const table: [what: string, markdown: string, maxLength: number, parts: string[]][] = [
  [
    'between blocks before anything else',
    'One. Two.\n\nThree. Four.\n\nFive.',
    24,
    ['One. Two.\n\nThree. Four.', 'Five.'],
  ],
  [
    'with a heading beside its text',
    'aaaa bbbb cccc\n\n# H\n\ndddd eeee',
    24,
    ['aaaa bbbb cccc', '<b>H</b>\n\ndddd eeee'],
  ],
  [
    'between list items',
    '- aaaa aaaa\n- bbbb bbbb\n- cccc cccc',
    28,
    ['• aaaa aaaa\n• bbbb bbbb', '• cccc cccc'],
  ],
  [
    'in a list item without a second bullet',
    '- aaaa bbbb cccc dddd eeee',
    18,
    ['• aaaa bbbb cccc', '  dddd eeee'],
  ],
  [
    'between sentences',
    'Aaaa bbbb. Cccc dddd. Eeee ffff.',
    24,
    ['Aaaa bbbb. Cccc dddd.', 'Eeee ffff.'],
  ],
  ['between words', 'aaaa bbbb cccc dddd eeee', 20, ['aaaa bbbb cccc dddd', 'eeee']],
  ['inside a word that is too long', 'a'.repeat(20), 16, ['a'.repeat(16), 'aaaa']],
  [
    'with marks closed and opened again',
    '**aaaa bbbb cccc dddd eeee**',
    20,
    ['<b>aaaa bbbb cccc dddd</b>', '<b>eeee</b>'],
  ],
  [
    'never inside a link',
    'aaaa bbbb [cccc dddd eeee](https://e.org) ffff',
    20,
    ['aaaa bbbb', '<a href="https://e.org">cccc dddd eeee</a> ffff'],
  ],
  [
    'never inside code',
    'aaaa bbbb `cccc dddd eeee` ffff',
    20,
    ['aaaa bbbb', '<code>cccc dddd eeee</code> ffff'],
  ],
  [
    'inside a link only if it fills a part alone',
    '[aaaa bbbb cccc dddd eeee](https://e.org)',
    20,
    ['<a href="https://e.org">aaaa bbbb cccc dddd</a>', '<a href="https://e.org">eeee</a>'],
  ],
  [
    'between lines of code, with the language again',
    '```js\naaaa bbbb\ncccc dddd\neeee\n```',
    20,
    [
      '<pre><code class="language-js">aaaa bbbb\ncccc dddd</code></pre>',
      '<pre><code class="language-js">eeee</code></pre>',
    ],
  ],
  [
    'at an empty line of code if the line is in the second half',
    '```\naaaa\nbbbb\n\ncccc\ndddd\n```',
    16,
    ['<pre>aaaa\nbbbb</pre>', '<pre>cccc\ndddd</pre>'],
  ],
  [
    'at the last line end of code if an empty line comes too early',
    '```\naa\n\nbbbb\ncccc\ndddd\n```',
    16,
    ['<pre>aa\n\nbbbb\ncccc</pre>', '<pre>dddd</pre>'],
  ],
  [
    'before a line of code that the next part can hold whole',
    '```\naa\nbbbbbbbbbbbbbbb\n```',
    16,
    ['<pre>aa</pre>', '<pre>bbbbbbbbbbbbbbb</pre>'],
  ],
  [
    'inside a line of code that is too long',
    '```\naaaaaaaaaaaaaaaaaaaaaaa\n```',
    16,
    ['<pre>aaaaaaaaaaaaaaaa</pre>', '<pre>aaaaaaa</pre>'],
  ],
  [
    'with a quote closed and opened again',
    '> aaaa bbbb\n>\n> cccc dddd',
    20,
    ['<blockquote>aaaa bbbb</blockquote>', '<blockquote>cccc dddd</blockquote>'],
  ],
  [
    'with the indent of a line of code kept',
    '```\nif a:\n    b()\n    c()\n```',
    16,
    ['<pre>if a:\n    b()</pre>', '<pre>    c()</pre>'],
  ],
  [
    'between table rows, with the header again',
    '|H|\n|-|\n|aaaa|\n|bbbb|\n|cccc|',
    20,
    ['<pre>H\n────\naaaa\nbbbb</pre>', '<pre>H\n────\ncccc</pre>'],
  ],
];

describe('splitting', () => {
  it.each(table)('[M03] cuts the text %s', (_, markdown, maxLength, parts) => {
    expect(texts(markdown, maxLength)).toEqual(parts);
  });

  it('[M03] never breaks a user-perceived character', () => {
    const family = '👩‍👩‍👧';
    const parts = texts(family.repeat(10), 20);
    expect(parts).toEqual(Array(5).fill(family.repeat(2)));
  });

  it('[M03] breaks a character only if it is longer than a part', () => {
    const zalgo = `a${'\u0301'.repeat(40)}`;
    expect(texts(zalgo, 16).join('')).toBe(zalgo);
  });

  it.each([
    ['utf16', 2],
    ['codepoint', 4],
    ['byte', 1],
  ] as const)('[M03] counts in the platform’s unit: %s', (unit, emojiPerPart) => {
    const parts = texts('😀'.repeat(16), 16, { unit, dialect: 'plain' });
    expect(parts[0]).toBe('😀'.repeat(emojiPerPart * 4));
  });

  it('[M03] counts only visible text on Telegram and all markup elsewhere', () => {
    const markdown = '**aaaa** **bbbb** **cccc**';
    expect(texts(markdown, 16)).toHaveLength(1);
    expect(texts(markdown, 50, { dialect: 'html' })).toHaveLength(2);
  });

  it('refuses a part length that cannot hold one character', () => {
    expect(() => texts('a', 15)).toThrow('too short');
  });

  it.each([
    [
      'a deep list',
      '- a\n  - b\n    - c\n      - d\n        - e\n          - ffff gggg',
      'abcdeffffgggg',
    ],
    ['a wide row', '|h|i|\n|-|-|\n|xxxxxxxxxxxxxxxxxxxxxxxxx|y|', 'x'.repeat(25)],
    ['a grid row', '|1|2|\n|-|-|\n|xxxxxxxx|yyyyyyyy|', 'xxxxxxxxyyyyyyyy'],
    [
      'code in a quote in a list',
      '- > ```js\n  > aaaa bbbb cccc dddd eeee',
      'aaaabbbbccccddddeeee',
    ],
  ])('[M03] drops structure before text when a part is tiny: %s', (_, markdown, letters) => {
    for (const dialect of ['telegram', 'plain', 'html'] as const) {
      const shown = render(markdown, { dialect, maxLength: 16, unit: 'utf16' });
      expect(shown.every(({ text, plain }) => text !== '' && plain.length <= 16)).toBe(true);
      const seen = shown.map(({ plain }) => plain).join('');
      expect(seen.replaceAll(/[^a-z]/g, '')).toContain(letters);
    }
  });
});

const DIALECTS = Object.keys(CAPABILITIES) as (keyof typeof CAPABILITIES)[];
const numbered = (markdown: string, target: Partial<RenderTarget> = {}) =>
  render(markdown, {
    dialect: 'telegram',
    maxLength: 24,
    unit: 'utf16',
    numbered: true,
    ...target,
  });

describe('numbered parts', () => {
  it("[M03] end with a line that states the part's number and the total, also in plain text", () => {
    const label = (text: string) => ({ text, plain: text });
    expect(numbered('aaaa bbbb cccc dddd eeee ffff')).toEqual([
      label('aaaa bbbb cccc\n\n(1/2)'),
      label('dddd eeee ffff\n\n(2/2)'),
    ]);
  });

  it('[M03] are not numbered when there is only one part', () => {
    expect(numbered('aaaa')).toEqual([{ text: 'aaaa', plain: 'aaaa' }]);
  });

  it.each([
    ['**aaaa bbbb cccc dddd eeee ffff**', '<b>aaaa bbbb cccc</b>\n\n(1/2)'],
    ['> aaaa bbbb cccc dddd eeee ffff', '<blockquote>aaaa bbbb cccc</blockquote>\n\n(1/2)'],
    ['```\naaaa\nbbbb\ncccc\ndddd\neeee\nffff\n```', '<pre>aaaa\nbbbb\ncccc</pre>\n\n(1/2)'],
  ])('[M03] have their number outside all marks: %j', (markdown, first) => {
    expect(numbered(markdown)[0]?.text).toBe(first);
  });

  it.each(DIALECTS)('[M03] stay within the limit from 2 to over 1,000 parts: %s', (dialect) => {
    for (const words of [12, 40, 80, 400, 6_000]) {
      const markdown = Array.from({ length: words }, (_, index) => `w${index}w`).join(' ');
      const parts = numbered(markdown, { dialect, maxLength: 40 });
      const texts = parts.map((part) =>
        CAPABILITIES[dialect].counts === 'visible' ? part.plain : part.text,
      );
      const plain = parts.map((part) => part.plain);
      const longest = Math.max(...[...texts, ...plain].map(({ length }) => length));
      expect(parts.length).toBeGreaterThan(1);
      expect(longest).toBeLessThanOrEqual(40);
      expect(plain.map((text) => /\(\d+\/\d+\)$/.exec(text)?.[0])).toEqual(
        plain.map((_, index) => `(${index + 1}/${parts.length})`),
      );
      expect(plain.join(' ').match(/w\d+w/g)).toEqual(markdown.split(' '));
    }
  });

  it('[M03] have no number when it would leave no space for text', () => {
    const parts = numbered('aaaa bbbb cccc dddd eeee', { maxLength: 16 });
    expect(parts.map(({ text }) => text)).toEqual(['aaaa bbbb cccc', 'dddd eeee']);
  });
});
