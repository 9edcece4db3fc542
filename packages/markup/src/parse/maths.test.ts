import { describe, expect, it } from 'vitest';
import { render } from '../render.ts';

const html = (markdown: string) =>
  render(markdown, { dialect: 'html', maxLength: 200_000, unit: 'utf16' })
    .map(({ text }) => text)
    .join('');

/** `<m>` stands for the element that marks a formula for the page. */
const marked = (shown: string) =>
  shown.replaceAll('<m>', '<span class="math">').replaceAll('</m>', '</span>');

const inText: [what: string, markdown: string, shown: string][] = [
  ['dollars', '$x_1*y*z_2$', '<m>$x_1*y*z_2$</m>'],
  [
    'dollars with links and bars in them',
    '$[a](b) ||c|| www.e.org$',
    '<m>$[a](b) ||c|| www.e.org$</m>',
  ],
  ['dollars in brackets and before signs', '($*a*$), $*b*$.', '(<m>$*a*$</m>), <m>$*b*$</m>.'],
  ['dollars over a line end', '$a\nb*c*$ *d*', '<m>$a<br>b*c*$</m> <em>d</em>'],
  ['an escaped dollar inside', '$a\\$*b*c$', '<m>$a\\$*b*c$</m>'],
  ['two dollars', 'so $$ a*b*c $$ *d*', 'so <m>$$ a*b*c $$</m> <em>d</em>'],
  ['brackets', '\\(a_1 \\times *b*\\) *c*', '<m>\\(a_1 \\times *b*\\)</m> <em>c</em>'],
  ['a letter in brackets', 'so \\(n\\) and \\(x, y\\)', 'so <m>\\(n\\)</m> and <m>\\(x, y\\)</m>'],
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
  ['dollars', '$$\na_1*b*\n$$\n*c*', '<p><m>$$<br>a_1*b*<br>$$</m><br><em>c</em></p>'],
  ['dollars on one line', '$$ a_1*b* $$', '<p><m>$$ a_1*b* $$</m></p>'],
  ['brackets', '\\[\n  a\n    *b*\n\\]', '<p><m>\\[<br>  a<br>    *b*<br>\\]</m></p>'],
  ['brackets on one line', '\\[ a*b*c = d \\]', '<p><m>\\[ a*b*c = d \\]</m></p>'],
  [
    'text behind the marker',
    '$$\\begin{aligned}\n*a*\n\\end{aligned}$$\n\nb',
    '<p><m>$$\\begin{aligned}<br>*a*<br>\\end{aligned}$$</m></p><p>b</p>',
  ],
  ['text before them', 'a\n$$\n*b*\n$$\nc', '<p>a<br><m>$$<br>*b*<br>$$</m><br>c</p>'],
  [
    'a list item round them',
    '- a\n  $$\n  *b*\n  $$\n- c',
    '<ul><li>a<br><m>$$<br>*b*<br>$$</m></li><li>c</li></ul>',
  ],
  [
    'a text that they end',
    'so: $$\na*b*c\n$$\n*d*',
    '<p>so: <m>$$<br>a*b*c<br>$$</m><br><em>d</em></p>',
  ],
];

const noBlocks: [what: string, markdown: string, shown: string][] = [
  ['price classes', '$ a\n$$ b\n$$$ *c*', '<p>$ a<br>$$ b<br>$$$ <em>c</em></p>'],
  ['an escaped bracket', '\\[x] a_b_c', '<p>[x] a_b_c</p>'],
  ['escaped brackets', '\\[Verse 1\\]\n*a*', '<p>[Verse 1]<br><em>a</em></p>'],
  ['a number and a box in escaped brackets', '\\[1\\] \\[x\\] *a*', '<p>[1] [x] <em>a</em></p>'],
  ['words in escaped brackets', 'so \\(see below\\) *a*', '<p>so (see below) <em>a</em></p>'],
  ['an escaped link', '\\[a\\](b)', '<p>[a](b)</p>'],
  ['what has no end', '$$\na *b*', '<p>$$<br>a <em>b</em></p>'],
  [
    'what a quote ends',
    '> $$\n> a\n\n*b*\n$$',
    '<blockquote><p>$$<br>a</p></blockquote><p><em>b</em><br>$$</p>',
  ],
  ['HTML', '<!--\n$$\na\n$$', '<p>&lt;!--<br>$$<br>a<br>$$</p>'],
];

describe('maths', () => {
  it.each(inText)('[M01] [U08] is recognized, and shown as written: %s', (_, markdown, shown) => {
    expect(html(markdown)).toBe(marked(`<p>${shown}</p>`));
  });

  it.each(prose)('is not found in %s', (_, markdown, shown) => {
    expect(html(markdown)).toBe(`<p>${shown}</p>`);
  });

  it.each(blocks)(
    '[M01] [U08] is recognized, and shown as written on separate lines: %s',
    (_, markdown, shown) => {
      expect(html(markdown)).toBe(marked(shown));
    },
  );

  it.each(noBlocks)('is not a block: %s', (_, markdown, shown) => {
    expect(html(markdown)).toBe(shown);
  });

  it('[M01] does not extend into the next cell of a table', () => {
    expect(html('|a|b|\n|-|-|\n|$x|*y*$|')).toContain('<td>$x</td><td><em>y</em>$</td>');
  });

  it.each(['$', '$a ', '$$a ', '$a`', '\\(', '\\(a`', '\\[a', 'a $$\n', '$$\n'])(
    '[M06] does not stall the parser when its end is missing: %j',
    (text) => {
      const markdown = text.repeat(30_000 / text.length);
      const signs = (all: string) => all.replaceAll(/[^$a(]/g, '');
      expect(signs(html(markdown).replaceAll(/<[^>]+>/g, ''))).toBe(signs(markdown));
    },
  );
});
