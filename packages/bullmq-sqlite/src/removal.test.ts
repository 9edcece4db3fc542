import { describe, expect, it } from 'vitest';
import { readRetention } from './removal.ts';

describe('the retention of finished jobs', () => {
  it.each([
    ['keeps everything by default', undefined, undefined, { count: -1, age: undefined }],
    ['keeps nothing for true', true, undefined, { count: 0, age: undefined }],
    [
      "keeps everything for false, whatever the worker's setting",
      false,
      { count: 0 },
      { count: -1, age: undefined },
    ],
    ['keeps the given number of jobs', 5, undefined, { count: 5, age: undefined }],
    [
      'keeps jobs by age and number for an object',
      { age: 60, count: 9 },
      undefined,
      { count: 9, age: 60 },
    ],
    [
      "uses the worker's setting if the job has none",
      undefined,
      { age: 60 },
      { count: undefined, age: 60 },
    ],
  ] as const)('%s', (_title, own, workers, expected) => {
    expect(readRetention(own, workers)).toMatchObject(expected);
  });
});
