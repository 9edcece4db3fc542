import { describe, expect, it } from 'vitest';
import { settlesAt } from './albums.ts';

describe('until when more of a burst may arrive', () => {
  const target = { maxLength: 1_000 };
  it.each([
    ['an ordinary message', { text: 'hello' }, undefined],
    ['a picture alone', { text: '' }, undefined],
    ['a picture of an album', { text: '', albumId: 'a' }, 1_005],
    ['a text as long as the platform takes', { text: 'x'.repeat(1_000) }, 1_005],
    ['one cut at a word before that', { text: 'x'.repeat(900) }, 1_005],
    ['a long one of its own', { text: 'x'.repeat(899) }, undefined],
  ])('[F08] %s', (_case, message, expected) => {
    expect(settlesAt(message, target, 5)).toBe(expected);
  });
});
