import { describe, expect, it } from 'vitest';
import { findSlowText } from './repetitive-texts.ts';

describe('strings that repeat one substring', () => {
  it.each([
    [/ +$/, '" \\u0001"'],
    [/\([^)]*\)/, '"(\\u0001"'],
  ])('[D13] expose code that restarts at each position of a string: %s', (pattern, piece) => {
    const slow = findSlowText(
      (text) => pattern.test(text),
      30_000,
      () => true,
    );
    expect(slow).toBe(piece);
  });

  it('[D13] do not slow down code that reads each string once', () => {
    expect(findSlowText((text) => /[^ ] +/.test(text))).toBeUndefined();
  });
});
