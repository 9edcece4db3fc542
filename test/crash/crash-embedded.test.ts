import { DURABLE_POINTS } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { keepsItsPromises, SITES } from './crash-promises.ts';
import { DEPLOYMENTS } from './deployment.ts';
import { killSites } from './kill.ts';

// Apart from the distributed one, which needs servers: this one would run once more without each of them.

describe('where a change is tested', () => {
  it('holds every durable point once, but that of jobs', () => {
    const all = [...SITES.embedded, ...SITES.distributed];
    const points = DURABLE_POINTS.filter((point) => point !== 'job-fired');
    expect(all.filter((site) => points.some((point) => point === site)).toSorted()).toEqual(
      points.toSorted(),
    );
    for (const deployment of DEPLOYMENTS)
      expect(killSites(deployment)).toEqual(expect.arrayContaining([...SITES[deployment]]));
  });
});

describe('one process, killed on the durable path', () => {
  keepsItsPromises('embedded');
});
