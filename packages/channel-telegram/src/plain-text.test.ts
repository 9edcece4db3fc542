import { describe, expect, it } from 'vitest';
import { toPlainPartText } from './format.ts';
import { MAX_TEXT } from './settings.ts';

describe('the text of a message part without markup', () => {
  it('is the plain form if that fits', () => {
    expect(toPlainPartText({ text: '<b>a</b>', plain: 'a (https://e.org)' })).toBe(
      'a (https://e.org)',
    );
  });

  it('is the visible text of the markup when the plain form is too long', () => {
    const text = '<a href="https://e.org/?a=1&amp;b=2">1 &lt; 2 &amp;amp; 3</a>';
    expect(toPlainPartText({ text, plain: 'x'.repeat(MAX_TEXT + 1) })).toBe('1 < 2 &amp; 3');
  });
});
