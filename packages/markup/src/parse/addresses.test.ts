import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { expect, it } from 'vitest';
import { quickAddresses } from './addresses.ts';

const GFM = gfm();
const quick = quickAddresses(GFM);
// Without the transforms, which find addresses a second time.
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
])('finds the same as GFM: %s', (_, markdown) => {
  expect(parse(markdown, quick(markdown))).toEqual(parse(markdown, GFM));
});
