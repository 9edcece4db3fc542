import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { describe, expect, it } from 'vitest';
import { render } from '../render.ts';
import { createQuickAutolinkSyntax } from './inline-syntax.ts';

const GFM = gfm();
const quick = createQuickAutolinkSyntax(GFM);
// The transforms, which search for URLs a second time, are omitted.
const mdastExtensions = gfmFromMarkdown().map(({ transforms: _again, ...extension }) => extension);
const parse = (markdown: string, extension: typeof GFM) =>
  fromMarkdown(markdown, { extensions: [extension], mdastExtensions });

it.each([
  ['addresses of all kinds', 'a https://e.org/x_y HTTP://E.org www.e.org a.b-c+d@e.org'],
  [
    'addresses next to signs',
    '(www.e.org) *a@e.org* [x](http://e.org) ~~https://e.org~~ x/a@e.org @b@e.org',
  ],
  [
    'addresses in quotes, lists and tables',
    '> a@e.org\n> - 😀 www.e.org\n>   é https://e.org\n\n|a|\n|-|\n|x a@e.org|',
  ],
  ['addresses behind tabs', '-\ta@e.org\n\twww.e.org\n\n\n- \thttps://e.org\n\ta@e.org'],
  ['lazy lines', '> - a\nwww.e.org\nb a@e.org'],
  ['no addresses', 'how what a @ b www http:'],
])('finds the same addresses as GFM: %s', (_, markdown) => {
  expect(parse(markdown, quick(markdown))).toEqual(parse(markdown, GFM));
});

const html = (markdown: string) =>
  render(markdown, { dialect: 'html', maxLength: 20_000, unit: 'utf16' })
    .map(({ text }) => text.replaceAll('strong>', 'b>').replaceAll('em>', 'i>'))
    .join('');

const table: [what: string, markdown: string, shown: string][] = [
  ['before a letter, after Chinese punctuation', '**「注意」**文字', '<b>「注意」</b>文字'],
  ['between Chinese letters and quotes', '这是**“重点”**内容', '这是<b>“重点”</b>内容'],
  ['round a Japanese sentence', 'これは**強調です。**次の文', 'これは<b>強調です。</b>次の文'],
  [
    'next to Korean particles',
    '**"강조"**는 *(기울임)*은',
    '<b>&quot;강조&quot;</b>는 <i>(기울임)</i>은',
  ],
  ['in both at once', '**中文**：***重点。***文', '<b>中文</b>：<i><b>重点。</b></i>文'],
  [
    'round a label without a space behind it',
    '**Note:**text **(a)**b',
    '<b>Note:</b>text <b>(a)</b>b',
  ],
  ['inside words', '**foo**bar un**foo**bar', '<b>foo</b>bar un<b>foo</b>bar'],
  ['round signs that are none', '**2*3*4** *a*b* *x**2*', '<b>2*3*4</b> <i>a*b</i> <i>x**2</i>'],
  ['round a name that begins with a dot', '**.env**', '<b>.env</b>'],
  [
    'in each other',
    '***a** b* *c **d*** **e *f***',
    '<i><b>a</b> b</i> <i>c <b>d</b></i> <b>e <i>f</i></b>',
  ],
  ['over a line end', '**a\nb**', '<b>a<br>b</b>'],
];

const literal: [what: string, markdown: string][] = [
  ['without an end', '**a'],
  ['with spaces inside', '** a ** * 注意 *'],
  ['before an opening bracket', '**(**foo)'],
  ['of a product', '2 * 3 * 4'],
  ['of one asterisk behind a label', '*a:*b'],
  ['of products without spaces', '2*3*4 5*3 cm, 2*4 cm f(x)=a*x*b $5*2, $3*2 2*n*(n+1)'],
  ['of brackets', '(a)*(b)*(c) a[i]*b[j]*c'],
  ['of powers', '2**8 and 2**10, x**2 + y**2, f(x)**2**3'],
  ['of files', 'src/*.ts, lib/*.js and *.log'],
  ['in words', 'f*cking sh*t foo*bar*'],
  ['of names in code', '__init__.py, __main__ and path/to/__tests__/a_b.ts'],
  ['of a shrug', '¯\\_(ツ)_/¯'],
  ['of underscores', 'a_b_c snake_case_name _private'],
  ['of pointers', 'int *a, *b; char **argv'],
  ['of footnotes', 'Price* and tax*, 4* hotel. *Only today'],
];

describe('emphasis', () => {
  it.each(table)('[M01] is recognized %s', (_, markdown, shown) => {
    expect(html(markdown)).toBe(`<p>${shown}</p>`);
  });

  it.each(literal)('remains unchanged %s', (_, markdown) => {
    expect(html(markdown)).toBe(`<p>${markdown}</p>`);
  });
});
