import { describe, expect, it } from 'vitest';
import { typingTimeMs } from './typing.ts';

describe('how long one types before a message', () => {
  it.each([
    [0, 400],
    [50, 1_000],
    [200, 2_800],
    [4_000, 3_000],
  ])('[D05] of %i characters is %i ms at most, and half of it at least', (characters, most) => {
    expect(typingTimeMs(characters, 1)).toBe(most);
    expect(typingTimeMs(characters, 0)).toBe(most / 2);
  });
});
