import { describe, expect, it } from 'vitest';
import { formatDuration, formatFileSize, formatPercent } from './format.ts';

describe('numbers and times formatted for people', () => {
  it.each([
    [-5, '0 ms'],
    [5, '5 ms'],
    [440, '0.4 s'],
    [12_400, '12 s'],
    [180_000, '3 min'],
    [18_000_000, '5 h'],
    [172_800_000, '2 d'],
  ])('[U03] formats %i ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([
    [1, '1 kB'],
    [1_024, '1 kB'],
    [1_048_575, '1,024 kB'],
    [1_572_864, '1.5 MB'],
  ])('[U08] formats %i bytes as %s', (bytes, text) => {
    expect(formatFileSize(bytes)).toBe(text);
  });

  it('[P17] shows 100 % only if nothing is missing', () => {
    expect(formatPercent(0.9999)).toBe('99.9 %');
    expect(formatPercent(1)).toBe('100 %');
  });
});
