import { expect, it } from 'vitest';
import { literal, literalLine, quotedLines } from './literal-text.ts';

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

it('[P18] no kind of line end leads out of a quotation', () => {
  expect(quotedLines('a\r\nb\nc\rd\u2028e\u2029f\u0085g\vh\fi')).toBe(
    ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((line) => `> ${line}`).join('\n'),
  );
});
