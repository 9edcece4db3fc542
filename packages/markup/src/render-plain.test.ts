import type { RenderTarget } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { render } from './render.ts';

const PLAIN: RenderTarget = { dialect: 'plain', maxLength: 4096, unit: 'utf16' };

const table: [what: string, markdown: string, text: string][] = [
  ['marks without their signs', '# A **b** *c* ~~d~~ `e` ||f||', 'A b c d e f'],
  ['addresses behind the text', '[a](https://e.org), [b](c.md)', 'a (https://e.org), b (c.md)'],
  ['an address once if it is the text', 'https://e.org <a@e.org>', 'https://e.org a@e.org'],
  ['special characters as they are', '1 < 2 & &lt; <b>', '1 < 2 & &lt; <b>'],
  ['lists', '- a\n  1. b\n  2. [x] c', '• a\n  1. b\n  2. ☑ c'],
  ['quotes', '> a\n>\n> > b\n\nc', '> a\n>\n> > b\n\nc'],
  ['code as it is', 'a\n\n```js\n\tb\n\n c\n```', 'a\n\n\tb\n\n c'],
  ['code in a list, in its column', '1. a\n   ```\n   b\n   c\n   ```', '1. a\n   b\n   c'],
  ['a table', '|A|B|\n|-|-:|\n|x|10|', 'A   B\n─  ──\nx  10'],
  ['a rule', '***', '———'],
];

describe('plain text', () => {
  it.each(table)('[M01] shows %s', (_, markdown, text) => {
    expect(render(markdown, PLAIN)).toEqual([{ text, plain: text }]);
  });

  it("[M03] writes a URL once, even if its link's text is split", () => {
    const parts = render('[aaaa bbbb cccc](https://e.org/x)', { ...PLAIN, maxLength: 24 });
    expect(parts.map(({ text }) => text)).toEqual(['aaaa bbbb cccc', '(https://e.org/x)']);
  });
});
