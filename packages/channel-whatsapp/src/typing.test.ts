import { describe, expect, it } from 'vitest';
import { computeTypingTimeMs } from './typing.ts';

describe('the typing time before a message', () => {
  it.each([
    [0, 400],
    [50, 1_000],
    [200, 2_800],
    [4_000, 3_000],
  ])('[D05] is at most %i ms for %i characters, and at least half of that', (characters, most) => {
    expect(computeTypingTimeMs(characters, 1)).toBe(most);
    expect(computeTypingTimeMs(characters, 0)).toBe(most / 2);
  });
});
