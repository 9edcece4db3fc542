import { expect, it } from 'vitest';
import { literal, literalLine } from './literal-text.ts';

it.each([
  ['*a* [b](c)', '\\*a\\* \\[b\\]\\(c\\)'],
  ['a-b, c: d', 'a-b, c: d'],
  ['<img>\n`x`', '\\<img\\>\n\\`x\\`'],
])('%j is shown as it is', (text, shown) => {
  expect(literal(text)).toBe(shown);
});

it('a text of many lines is one', () => {
  expect(literalLine(' a\n\n # b ')).toBe('a \\# b');
});
