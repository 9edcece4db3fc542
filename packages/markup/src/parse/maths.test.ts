import { describe, expect, it } from 'vitest';
import { render } from '../render.ts';
import { finish } from '../steps.ts';
import { cutIntoPieces } from './pieces.ts';

const html = (markdown: string) =>
  render(markdown, { dialect: 'html', maxLength: 200_000, unit: 'utf16' })
    .map(({ text }) => text)
    .join('')
    .replaceAll('<pre><code class="language-latex">', '<latex>')
    .replaceAll('</code></pre>', '</latex>');

const inText: [what: string, markdown: string, shown: string][] = [
  ['dollars', '$x_1*y*z_2$', '$x_1*y*z_2$'],
  ['dollars with links and bars in them', '$[a](b) ||c|| www.e.org$', '$[a](b) ||c|| www.e.org$'],
  ['dollars in brackets and before signs', '($*a*$), $*b*$.', '($*a*$), $*b*$.'],
  ['dollars over a line end', '$a\nb*c*$ *d*', '$a<br>b*c*$ <em>d</em>'],
  ['an escaped dollar inside', '$a\\$*b*c$', '$a\\$*b*c$'],
  ['two dollars', 'so $$ a*b*c $$ *d*', 'so $$ a*b*c $$ <em>d</em>'],
  ['brackets', '\\(a_1 \\times *b*\\) *c*', '(a_1 \\times *b*) <em>c</em>'],
];

const prose: [what: string, markdown: string, shown: string][] = [
  ['prices', '$5 and **$10**, $20 to $30', '$5 and <strong>$10</strong>, $20 to $30'],
  ['prices with letters', 'US$5 and A$*6*$', 'US$5 and A$<em>6</em>$'],
  ['names after dollars', '$HOME and *$PATH*', '$HOME and <em>$PATH</em>'],
  ['names in code', '`$A` *b* `$C`', '<code>$A</code> <em>b</em> <code>$C</code>'],
  ['price classes', '**$$** *a* **$$**', '<strong>$$</strong> <em>a</em> <strong>$$</strong>'],
  ['three dollars', '$$$ *a* $$$', '$$$ <em>a</em> $$$'],
  ['escaped dollars', '\\$*a*\\$', '$<em>a</em>$'],
  ['one dollar', 'a $*b*', 'a $<em>b</em>'],
  ['escaped brackets', '\\\\(*a*\\\\) \\(*b*', '\\(<em>a</em>\\) (<em>b</em>'],
];

const blocks: [what: string, markdown: string, shown: string][] = [
  [
    'dollars on lines of their own',
    '$$\na_1*b*\n$$\n*c*',
    '<latex>a_1*b*</latex><p><em>c</em></p>',
  ],
  ['dollars on one line', '$$ a_1*b* $$', '<latex>a_1*b*</latex>'],
  ['brackets on lines of their own', '\\[\n  a\n    b\n\\]', '<latex>a\n  b</latex>'],
  ['brackets on one line', '\\[ a = b \\]', '<latex>a = b</latex>'],
  ['empty lines inside', '$$\na\n\nb\n$$', '<latex>a\n\nb</latex>'],
  ['what looks like a list inside', '$$\na\n- b\n$$', '<latex>a\n- b</latex>'],
  [
    'text behind the marker',
    '$$\\begin{aligned}\na\n\\end{aligned}$$\n\nb',
    '<latex>\\begin{aligned}\na\n\\end{aligned}</latex><p>b</p>',
  ],
  ['text before it', 'a\n$$\nb\n$$\nc', '<p>a</p><latex>b</latex><p>c</p>'],
  ['no end', '$$\na *b*', '<latex>a *b*</latex>'],
  [
    'a list item round it',
    '- a\n  $$\n  b\n  $$\n- c',
    '<ul><li>a<latex>b</latex></li><li>c</li></ul>',
  ],
  [
    'a quote that ends before it does',
    '> $$\n> a\n\n*b*',
    '<blockquote><latex>a</latex></blockquote><p><em>b</em></p>',
  ],
];

const noBlocks: [what: string, markdown: string, shown: string][] = [
  ['price classes', '$ a\n$$ b\n$$$ *c*', '<p>$ a<br>$$ b<br>$$$ <em>c</em></p>'],
  ['an escaped bracket', '\\[x] a_b_c', '<p>[x] a_b_c</p>'],
  ['escaped brackets', '\\[Verse 1\\]\n*a*', '<p>[Verse 1]<br><em>a</em></p>'],
  ['an escaped link', '\\[a\\](b)', '<p>[a](b)</p>'],
  [
    'maths that began in the text',
    'so: $$\na*b*c\n$$\n*d*',
    '<p>so: $$<br>a*b*c<br>$$<br><em>d</em></p>',
  ],
];

describe('maths', () => {
  it.each(inText)('[M01] is shown as written: %s', (_, markdown, shown) => {
    expect(html(markdown)).toBe(`<p>${shown}</p>`);
  });

  it.each(prose)('is not seen in %s', (_, markdown, shown) => {
    expect(html(markdown)).toBe(`<p>${shown}</p>`);
  });

  it.each(blocks)('[M01] becomes a code block: %s', (_, markdown, shown) => {
    expect(html(markdown)).toBe(shown);
  });

  it.each(noBlocks)('is no block: %s', (_, markdown, shown) => {
    expect(html(markdown)).toBe(shown);
  });

  it('[M01] stays out of the next cell of a table', () => {
    expect(html('|a|b|\n|-|-|\n|$x|*y*$|')).toContain('<td>$x</td><td><em>y</em>$</td>');
  });

  it('[M03] stays one block where a long document is cut into pieces', () => {
    const paragraph = `${'word '.repeat(1_000)}\n\n`;
    const block = `$$\na\n\nb\n$$\n\n`;
    const shown = html((paragraph + block).repeat(20));
    expect(shown.split('<latex>a\n\nb</latex>')).toHaveLength(21);
  });

  it('[M06] becomes code without the parser where it is too long for it', () => {
    const text = 'a_1 * b\n\n'.repeat(10_000);
    expect(finish(cutIntoPieces(`$$\n${text}$$`))).toEqual([
      { type: 'code', language: 'latex', text: text.trimEnd() },
    ]);
  });

  it.each(['$', '$a ', '$$a ', '$a`', '\\(', '\\(a`', 'a $$\n', '$$\n'])(
    '[M06] that never ends does not stall the parser: %j',
    (text) => {
      const markdown = text.repeat(30_000 / text.length);
      const signs = (all: string) => all.replaceAll(/[^$a(]/g, '');
      // A block without content shows nothing.
      const expected = text === '$$\n' ? '' : signs(markdown);
      expect(signs(html(markdown).replaceAll(/<[^>]+>/g, ''))).toBe(expected);
    },
  );
});
