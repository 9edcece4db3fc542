import { DURABLE_POINTS } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { chanceFrom } from '../privacy/chance.ts';
import { DEPLOYMENTS } from './deployment.ts';
import { killAt, killSites } from './kill.ts';

describe.each(DEPLOYMENTS)('the sites of the %s deployment', (deployment) => {
  const sites = killSites(deployment);

  it('hold every named point but that of jobs, and no site twice', () => {
    const missing = DURABLE_POINTS.filter((point) => !sites.includes(point));
    expect(missing).toEqual(['job-fired']);
    expect(new Set(sites).size).toBe(sites.length);
  });

  it('are killed in the same way for the same seed', () => {
    const kills = (seed: number) => {
      const chance = chanceFrom(seed);
      return sites.map((site) => killAt(site, chance));
    };
    expect(kills(7)).toEqual(kills(7));
    expect(kills(7)).not.toEqual(kills(8));
  });
});
