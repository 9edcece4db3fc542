import { describe, expect, it } from 'vitest';
import { findSlowText } from './repetitive-texts.ts';

describe('texts that repeat one piece', () => {
  it.each([
    [/ +$/, '" \\u0001"'],
    [/\([^)]*\)/, '"(\\u0001"'],
  ])('[D13] show what tries each place of a text from the beginning: %s', (pattern, piece) => {
    const slow = findSlowText(
      (text) => pattern.test(text),
      30_000,
      () => true,
    );
    expect(slow).toBe(piece);
  });

  it('[D13] are no burden for what reads them once', () => {
    expect(findSlowText((text) => /[^ ] +/.test(text))).toBeUndefined();
  });
});
