import { describe, expect, it } from 'vitest';
import { parseFormula } from './maths.ts';

describe('formulas', () => {
  it.each([
    ['$x^2$', 'x^2', false],
    ['\\(x^2\\)', 'x^2', false],
    ['$$x^2$$', 'x^2', true],
    ['$$\nx\n$$', '\nx\n', true],
    ['\\[ x \\]', ' x ', true],
    ['$a\\$b$', 'a\\$b', false],
  ])('[U08] reads the formula %j without its delimiters', (source, tex, isDisplay) => {
    expect(parseFormula(source)).toEqual({ tex, isDisplay });
  });

  it.each(['', '$', '$$', 'x^2', '$x', '\\(x\\]', '\\[x'])(
    '[U08] does not treat %j as a formula',
    (source) => {
      expect(parseFormula(source)).toBeNull();
    },
  );
});
