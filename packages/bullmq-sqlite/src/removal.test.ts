import { describe, expect, it } from 'vitest';
import { readRetention } from './removal.ts';

describe('what is kept of finished jobs', () => {
  it.each([
    ['everything by default', undefined, undefined, { count: -1, age: undefined }],
    ['nothing for true', true, undefined, { count: 0, age: undefined }],
    [
      'everything for false, whatever the worker says',
      false,
      { count: 0 },
      { count: -1, age: undefined },
    ],
    ['that many for a number', 5, undefined, { count: 5, age: undefined }],
    ['by age and number for an object', { age: 60, count: 9 }, undefined, { count: 9, age: 60 }],
    [
      "the worker's setting when the job has none",
      undefined,
      { age: 60 },
      { count: undefined, age: 60 },
    ],
  ] as const)('%s', (_title, own, workers, expected) => {
    expect(readRetention(own, workers)).toMatchObject(expected);
  });
});
