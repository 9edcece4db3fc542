import { DURABLE_POINTS } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { createChance } from '../privacy/chance.ts';
import { DEPLOYMENTS } from './deployment.ts';
import { chooseKill, type Kill, type KillDepth, listKillSites } from './kill.ts';

describe.each(DEPLOYMENTS)('the kill sites of the %s deployment', (deployment) => {
  const sites = listKillSites(deployment);

  it('include every named point except the one for jobs, and no site twice', () => {
    const missing = DURABLE_POINTS.filter((point) => !sites.includes(point));
    expect(missing).toEqual(['job-fired']);
    expect(new Set(sites).size).toBe(sites.length);
  });

  it('are the same for the same seed', () => {
    const kills = (seed: number) => {
      const chance = createChance(seed);
      return sites.map((site) => chooseKill(site, chance));
    };
    expect(kills(7)).toEqual(kills(7));
    expect(kills(7)).not.toEqual(kills(8));
  });

  it('include restarted processes only in a full run', () => {
    const chance = createChance(7);
    const lives = (depth: KillDepth) =>
      Array.from({ length: 20 }, () => sites.map((site) => chooseKill(site, chance, depth))).flat();
    const isDeep = (kill: Kill) =>
      (kill.kind === 'point' && kill.again) ||
      (kill.kind === 'start-up' && kill.afterMs.length > 1);
    expect(lives('one life').filter(isDeep)).toEqual([]);
    const deep = lives('several lives').filter(isDeep);
    expect(new Set(deep.map(({ kind }) => kind))).toEqual(new Set(['point', 'start-up']));
  });
});
