import { describe, expect, it } from 'vitest';
import { createPrefixRenderer } from './index.ts';
import { render } from './render.ts';

const telegram = (maxLength: number) =>
  ({ dialect: 'telegram', maxLength, unit: 'utf16' }) as const;

/** The visible text after each push, part by part. */
const texts = async (maxLength: number, ...pieces: string[]) => {
  const renderer = createPrefixRenderer(telegram(maxLength));
  for (const piece of pieces) renderer.push(piece);
  return (await renderer.show()).map(({ text }) => text);
};

const show = async (markdown: string) => (await texts(4096, markdown)).join('⏎');

const grid = (rows: string) => `<pre>a  b\n─  ─${rows}</pre>`;

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
    ['half a formula in round brackets', '\\(a*b*c', '\\(a*b*c\\)'],
    ['half a block of maths', '$$\nx^2*y*', '$$\nx^2*y*$$'],
    ['a block of maths about to close', '$$\nx^2\n$', '$$\nx^2$$'],
    ['half a block in square brackets', '\\[\nx*y*', '\\[\nx*y*\\]'],
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
    ['half a header row', 'x\n\n| a | b', 'x'],
    ['a header row', '| a | b |\n', ''],
    ['a header row in an item', '- x\n  | a | b |', '• x'],
    ['a delimiter row that has just started', '| a | b |\n|', ''],
    ['half a delimiter row', '| a | b |\n|---|-', ''],
    ['half a delimiter row without outer pipes', 'a | b\n--|', 'a | b'],
    ['half a delimiter row in a quote', '> x\n>\n> | a | b |\n> |-', '<blockquote>x</blockquote>'],
    ['a header row and the row below it', '| a | b |\n|---|---|\n', grid('')],
    ['half a row', '| a | b |\n|---|---|\n| 1 ', grid('\n1')],
    ['a row just begun', '| a | b |\n|---|---|\n| 1 | 2 |\n|', grid('\n1  2')],
    ['an open mark in a cell', '| a | b |\n|---|---|\n| **1', grid('\n1')],
    ['what an empty line left no table', '> |a|\n>\n>', '<blockquote>|a|</blockquote>'],
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
      it.each(rows)('[F12] completes or hides %s', async (_, markdown, html) => {
        expect(await show(markdown)).toBe(html);
      });
    });
  }
});

describe('an answer longer than one part', () => {
  it('[F12] keeps the parts of complete blocks, and changes only later parts', async () => {
    const renderer = createPrefixRenderer(telegram(20));
    const show = async () => (await renderer.show()).map(({ text }) => text);
    renderer.push('aaaa bbbb cccc dddd');
    expect(await show()).toEqual(['aaaa bbbb cccc dddd']);
    renderer.push(' **eeee\n\nff');
    expect(await show()).toEqual(['aaaa bbbb cccc dddd', '**eeee\n\nff']);
    renderer.push('\n\ngggg hhhh iiii');
    expect(await show()).toEqual(['aaaa bbbb cccc dddd', '**eeee\n\nff\n\ngggg', 'hhhh iiii']);
  });

  it('[F12] repeats the language of code that continues in the next part', async () => {
    const parts = await texts(40, '```js\n', 'let a = 1;\n'.repeat(20), 'let');
    expect(parts.length).toBeGreaterThan(4);
    for (const text of parts) expect(text).toMatch(/^<pre><code class="language-js">let a = 1;/);
    expect(parts.at(-1)).toMatch(/let<\/code><\/pre>$/);
  });

  it('[F12] continues a list in the next part with the next number', async () => {
    const items = Array.from({ length: 9 }, () => '1. item').join('\n');
    const parts = await texts(20, items);
    expect(parts.join('\n')).toBe(
      Array.from({ length: 9 }, (_, index) => `${index + 1}. item`).join('\n'),
    );
    expect(parts.length).toBeGreaterThan(2);
  });

  it('[F12] shows growing text that would stall the parser', async () => {
    const renderer = createPrefixRenderer(telegram(4096));
    for (let length = 0; length < 80_000; length += 1_000) renderer.push('a**b'.repeat(250));
    renderer.push('\n\n');
    const parts = await renderer.show();
    expect(parts.length).toBeGreaterThan(15);
    expect(parts.map(({ plain }) => plain).join('')).toBe('a**b'.repeat(20_000));
  });
});

describe('a long answer', () => {
  const item = '- an item with **bold** words\n';

  it('[F12] is shown in full as soon as its last block is complete', async () => {
    const markdown = `${item.repeat(300)}\n\n`;
    const shown = await texts(4096, markdown);
    expect(shown).toEqual(render(markdown, telegram(4096)).map(({ text }) => text));
  });
});

describe('references', () => {
  it('[F12] find definitions that precede them', async () => {
    const parts = await texts(200, '[d]: https://e.org\n\nSee [docs][d].\n\nSee [docs][d] and **');
    expect(parts.at(-1)).toMatch(/See <a href="https:\/\/e.org">docs<\/a> and$/);
  });

  it('[F12] are shown as written until their definitions arrive, then as links and footnotes', async () => {
    const markdown = 'See [docs][d][^1] there.\n\nMore.\n\n';
    const definitions = '[d]: https://e.org\n\n[^1]: A note.\n\n';
    expect(await texts(4096, markdown)).toEqual(['See [docs][d][^1] there.\n\nMore.']);
    const late = await texts(4096, markdown, definitions);
    expect(late.join()).toContain('See <a href="https://e.org">docs</a>[1] there.\n\nMore.');
    expect(late).toEqual(render(markdown + definitions, telegram(4096)).map(({ text }) => text));
  });
});
