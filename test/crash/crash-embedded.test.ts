import { DURABLE_POINTS } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { keepsItsPromises, SITES } from './crash-promises.ts';
import { DEPLOYMENTS } from './deployment.ts';
import { killSites } from './kill.ts';

// In a separate file from the distributed suite, which needs servers: this one would run again for
// each server that is missing.

describe('the sites that are killed when a change is tested', () => {
  it('include every durable point once, except the one of jobs', () => {
    const all = [...SITES.embedded, ...SITES.distributed];
    const points = DURABLE_POINTS.filter((point) => point !== 'job-fired');
    expect(all.filter((site) => points.some((point) => point === site)).toSorted()).toEqual(
      points.toSorted(),
    );
    for (const deployment of DEPLOYMENTS)
      expect(killSites(deployment)).toEqual(expect.arrayContaining([...SITES[deployment]]));
  });
});

describe('a single process that is killed on the durable path', () => {
  keepsItsPromises('embedded');
});
