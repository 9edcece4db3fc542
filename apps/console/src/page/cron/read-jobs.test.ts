import { describe, expect, it } from 'vitest';
import { readJobs } from './read-jobs.ts';

describe('the jobs of the page', () => {
  it('[U03] are read, and what is none of them is left out', () => {
    const job = { id: 'K7PQX', title: 'tea', state: 'on', nextAt: 5, lastAt: null, failures: 0 };
    expect(readJobs({ jobs: [job, { id: 7 }, null, 'x'] })).toMatchObject([
      { id: 'K7PQX', title: 'tea', task: '', waits: '', nextAt: 5, lastAt: null, lastOutcome: '' },
    ]);
    for (const odd of [null, 'x', { jobs: 'x' }, []]) expect(readJobs(odd)).toEqual([]);
  });
});
