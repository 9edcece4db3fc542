import { describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../migrations.ts';
import { hasAllSteps } from './has-all-steps.ts';

const steps = (numbers: readonly number[]) =>
  numbers.map((number) => ({ number, parley_version: '1' }));
const known = MIGRATIONS.map(({ number }) => number);

describe('whether a database has seen all steps', () => {
  it.each<[string, readonly number[], boolean]>([
    ['all that there are', known, true],
    ['none', [], false],
    ['all but the last', known.slice(0, -1), false],
    ['all but one in the middle', known.filter((number) => number !== 7), false],
    ['one more', [...known, known.length + 1], false],
    ['one more and one less', [...known.slice(1), known.length + 1], false],
  ])('%s', (_what, numbers, all) => {
    expect(hasAllSteps(steps(numbers))).toBe(all);
  });
});
