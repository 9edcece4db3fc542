import { describe, expect, it } from 'vitest';
import { createPrefixRenderer } from './prefix-renderer.ts';
import { render } from './render.ts';

const telegram = (maxLength: number) =>
  ({ dialect: 'telegram', maxLength, unit: 'utf16' }) as const;

/** What is shown after the pieces were pushed, each part a text. */
const texts = (maxLength: number, ...pieces: string[]) => {
  const renderer = createPrefixRenderer(telegram(maxLength));
  for (const piece of pieces) renderer.push(piece);
  const { settled, open } = renderer.show();
  return { settled: settled.map(({ text }) => text), open: open.map(({ text }) => text) };
};

const show = (markdown: string) => texts(4096, markdown).open.join('⏎');

const grid = (rows: string) => `<pre>a  b\n─  ─${rows}</pre>`;
const latex = (formula: string) => `<pre><code class="language-latex">${formula}</code></pre>`;

const cases: Record<string, [what: string, markdown: string, html: string][]> = {
  formats: [
    ['an open mark', 'a **b', 'a <b>b</b>'],
    ['a mark just begun', 'a **', 'a'],
    ['a mark half closed', '**a*', '<b>a</b>'],
    ['an inner mark half closed', '*a **b*', '<i>a <b>b</b></i>'],
    ['marks in marks', '**a *b', '<b>a <i>b</i></b>'],
    ['two marks in one run', '***a', '<i><b>a</b></i>'],
    ['a mark over two lines', '**a\nb', '<b>a\nb</b>'],
    ['a mark whose paragraph is over', '**a\n\n', '**a'],
    ['a mark between Chinese letters', '这是**重点', '这是<b>重点</b>'],
    ['an open code span', 'a `b*', 'a <code>b*</code>'],
    ['a code span half closed', '`` a `', '<code>a</code>'],
    ['code in an open mark', '**a `b', '<b>a </b><code>b</code>'],
    ['an open strike', '~~a', '<s>a</s>'],
    ['an open spoiler', '||a', '<tg-spoiler>a</tg-spoiler>'],
    ['a spoiler half closed', '||a|', '<tg-spoiler>a</tg-spoiler>'],
    ['an open underline', 'a <u>**b', 'a <u><b>b</b></u>'],
    ['an underline half closed', '<u>x</', '<u>x</u>'],
    ['names with underscores', 'a_b', 'a_b'],
    ['a product', '2 * 3', '2 * 3'],
    ['a product in an open mark', '**2*3', '<b>2*3</b>'],
    ['an escaped mark', 'a \\*b', 'a *b'],
    ['half an escape', 'a \\', 'a'],
  ],
  links: [
    ['half a link text', 'see [the do', 'see the do'],
    ['a link text that may go on', 'see [docs]', 'see docs'],
    ['half an address', 'see [docs](https://e.or', 'see docs'],
    ['half an address with brackets', 'see [docs](https://e.org/a_(b)', 'see docs'],
    ['half a title', 'see [docs](https://e.org "ti', 'see docs'],
    ['half a reference', 'see [docs][on', 'see docs'],
    ['a format in half a link', 'see [**docs', 'see <b>docs</b>'],
    ['half an image', '![alt](https://e', 'alt'],
    ['half an address in angle brackets', 'see <https:', 'see https:'],
    ['brackets that are no link', '[sic] a', '[sic] a'],
    ['prose in brackets behind brackets', '[a](b c d', '[a](b c d'],
    ['half a footnote', 'a[^1', 'a'],
    ['a footnote that is not there yet', 'a[^1] b', 'a[^1] b'],
    ['half a character reference', 'a &am', 'a'],
    ['half a tag', 'a <b', 'a'],
    ['a tag that means nothing', 'a <div', 'a &lt;div'],
  ],
  maths: [
    ['half a formula', 'a $x_1', 'a $x_1'],
    ['marks in half a formula', 'a $x*y', 'a $x*y'],
    ['prices', '$5 and **b', '$5 and <b>b</b>'],
    ['half a formula in round brackets', '\\(a*b*c', '(a*b*c)'],
    ['half a block of maths', '$$\nx^2', latex('x^2')],
    ['a block of maths about to close', '$$\nx^2\n$', latex('x^2')],
    ['half a block in square brackets', '\\[\nx', latex('x')],
  ],
  'code blocks': [
    ['an open code block', '```js\nlet a', '<pre><code class="language-js">let a</code></pre>'],
    ['a code block about to close', '```\na\n``', '<pre>a</pre>'],
    ['a code block just begun', 'a\n```js', 'a'],
    ['a fence just begun', 'a\n``', 'a'],
    ['a code block in an item', '- a\n  ```\n  **b', '• a\n<pre>**b</pre>'],
    ['a code block in an item about to close', '- a\n  ```\n  b\n  `', '• a\n<pre>b</pre>'],
    ['a code block in a quote', '> ```\n> [b', '<blockquote><pre>[b</pre></blockquote>'],
  ],
  lists: [
    ['a bullet without text', 'a\n-', 'a'],
    ['a number without a full stop', '1. a\n2', '1. a'],
    ['a number without text', '1. a\n2.', '1. a'],
    ['an open mark in a list item', '- **a**\n- **b', '• <b>a</b>\n• <b>b</b>'],
    ['an open mark before a new bullet', '- **a\n-', '• <b>a</b>'],
    ['half a box', '- a\n- [', '• a'],
    ['a box without text', '- a\n- [x]', '• a'],
    ['a task', '- [x] a', '☑ a'],
    ['a quote mark without text', '> a\n> ', '<blockquote>a</blockquote>'],
    ['half a heading marker', 'a\n##', 'a'],
    ['a mark in a heading', '# a **b', '<b>a b</b>'],
    ['half a rule or underline', 'a\n--', 'a'],
  ],
  tables: [
    ['half a header row', '| a | b', grid('')],
    ['a header row', '| a | b |\n', grid('')],
    ['a header row in an item', '- x\n  | a | b |', `• x\n${grid('')}`],
    ['a delimiter row just begun', '| a | b |\n|', grid('')],
    ['half a delimiter row', '| a | b |\n|---|-', grid('')],
    ['half a delimiter row without outer pipes', 'a | b\n--|', grid('')],
    [
      'half a delimiter row in a quote',
      '> | a | b |\n> |-',
      `<blockquote>${grid('')}</blockquote>`,
    ],
    ['half a row', '| a | b |\n|---|---|\n| 1 ', grid('\n1')],
    ['a row just begun', '| a | b |\n|---|---|\n| 1 | 2 |\n|', grid('\n1  2')],
    ['an open mark in a cell', '| a | b |\n|---|---|\n| **1', grid('\n1')],
    ['an open mark in a header', '| a | **b', grid('')],
    ['a line that only begins like one', '|a|\nb', '|a|\nb'],
  ],
  characters: [
    ['nothing yet', '', ''],
    ['half a surrogate pair', 'a \ud83d', 'a'],
    ['half a family', '👩\u200d', '👩\u200d'],
    ['half a line end', 'a\r', 'a'],
  ],
};

describe('an unfinished answer', () => {
  for (const [kind, rows] of Object.entries(cases)) {
    describe(kind, () => {
      it.each(rows)('[F12] shows %s sensibly', (_, markdown, html) => {
        expect(show(markdown)).toBe(html);
      });
    });
  }
});

describe('an answer longer than one part', () => {
  it('[F12] settles a part once nothing can change it, and shows the rest as open', () => {
    const renderer = createPrefixRenderer(telegram(20));
    renderer.push('aaaa bbbb cccc dddd');
    expect(renderer.show()).toMatchObject({ settled: [], open: [{ text: 'aaaa bbbb cccc dddd' }] });
    renderer.push(' **eeee\n\nff');
    expect(renderer.show()).toMatchObject({
      settled: [],
      open: [{ text: 'aaaa bbbb cccc dddd' }, { text: '**eeee\n\nff' }],
    });
    renderer.push('\n\ngggg hhhh iiii');
    expect(renderer.show()).toMatchObject({
      settled: [{ text: 'aaaa bbbb cccc dddd' }],
      open: [{ text: '**eeee\n\nff\n\ngggg' }, { text: 'hhhh iiii' }],
    });
  });

  it('[F12] settles code that goes on, part by part, in its language', () => {
    const { settled, open } = texts(40, '```js\n', 'let a = 1;\n'.repeat(20), 'let');
    expect(settled.length).toBeGreaterThan(3);
    for (const text of settled) expect(text).toMatch(/^<pre><code class="language-js">let a = 1;/);
    expect(open.at(-1)).toMatch(/let<\/code><\/pre>$/);
  });

  it('[F12] goes on with a list where it was cut, number by number', () => {
    const items = Array.from({ length: 9 }, () => '1. item').join('\n');
    const { settled, open } = texts(20, items);
    expect([...settled, ...open].join('\n')).toBe(
      Array.from({ length: 9 }, (_, index) => `${index + 1}. item`).join('\n'),
    );
    expect(settled.length).toBeGreaterThan(2);
  });

  it('[F12] shows a text that no parser could take, as it grows', () => {
    const renderer = createPrefixRenderer(telegram(4096));
    for (let length = 0; length < 80_000; length += 1_000) renderer.push('a**b'.repeat(250));
    const { settled, open } = renderer.show();
    expect(settled.length).toBeGreaterThan(15);
    expect([...settled, ...open].map(({ plain }) => plain).join('')).toBe('a**b'.repeat(20_000));
  });
});

describe('references', () => {
  it('[F12] find definitions that stood before them', () => {
    const { open } = texts(200, '[d]: https://e.org\n\nSee [docs][d].\n\nSee [docs][d] and **');
    expect(open.at(-1)).toMatch(/See <a href="https:\/\/e.org">docs<\/a> and$/);
  });

  it('[F12] show a link and a footnote as written whose definitions come later', () => {
    const markdown = 'See [docs][d][^1] there.\n\nMore.\n\n[d]: https://e.org\n\n[^1]: A note.';
    const late = texts(4096, markdown).open.join();
    expect(late).toContain('See [docs][d][^1] there.\n\nMore.');
    const [final] = render(markdown, telegram(4096));
    expect(final?.text).toContain('See <a href="https://e.org">docs</a>[1] there.\n\nMore.');
  });
});
