import { describe, expect, it } from 'vitest';
import { cutText } from './cut-text.ts';

describe('cutting a text', () => {
  it('leaves a text alone that fits exactly', () => {
    expect(cutText('12345', 5, 'X.md')).toEqual({ text: '12345', cut: null });
  });

  it('[P10] says that the text was cut and how long the whole is', () => {
    const { text, cut } = cutText('a'.repeat(41_213), 20_000, 'SOUL.md');
    expect(cut).toEqual({ shown: 20_000, total: 41_213 });
    expect(text.startsWith('a'.repeat(20_000))).toBe(true);
    expect(text.slice(20_000)).toBe(
      '\n\n[Cut: the first 20,000 of 41,213 characters of SOUL.md are shown.]',
    );
  });

  it('does not split an emoji', () => {
    const { text, cut } = cutText('ab🌱cd', 3, 'X.md');
    expect(cut).toEqual({ shown: 2, total: 6 });
    expect(text.isWellFormed()).toBe(true);
  });
});
