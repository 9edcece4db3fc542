import { DURABLE_POINTS } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { SITES, testCrashPromises } from './crash-promises.ts';
import { DEPLOYMENTS } from './deployment.ts';
import { listKillSites } from './kill.ts';

// This file is separate from the distributed suite, which is repeated for each missing server.

describe('the kill sites of a normal run', () => {
  it('include every durable point once, except the one for jobs', () => {
    const all = [...SITES.embedded, ...SITES.distributed];
    const points = DURABLE_POINTS.filter((point) => point !== 'job-fired');
    expect(all.filter((site) => points.some((point) => point === site)).toSorted()).toEqual(
      points.toSorted(),
    );
    for (const deployment of DEPLOYMENTS)
      expect(listKillSites(deployment)).toEqual(expect.arrayContaining([...SITES[deployment]]));
  });
});

describe('a single process killed on the durable path', () => {
  testCrashPromises('embedded');
});
