import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { DeploymentName } from './deployment.ts';
import { killSites } from './kill.ts';
import { runSeries, type SeriesResult } from './series.ts';
import { addTallies, NOTHING } from './tally.ts';

// The short form of the crash matrix: every site once. `npm run crash` is the long form.

const redisUrl = inject('redisUrl');
const postgresUrl = inject('postgresUrl');

const PEOPLE = { telegram: 4, discord: 4, whatsapp: 4, web: 3 };
const PATIENCE_MS = 400_000;

const root = mkdtempSync(join(tmpdir(), 'parley-crash-test-'));
afterAll(() => rmSync(root, { recursive: true }));

function promises(deployment: DeploymentName): void {
  const sites = killSites(deployment);
  let result: SeriesResult;
  beforeAll(async () => {
    const seed = Date.now() % 1_000_000;
    const folder = join(root, deployment);
    result = await runSeries({
      deployment,
      folder,
      people: PEOPLE,
      questions: 0,
      sites,
      rounds: 1,
      seed,
    });
  }, PATIENCE_MS);

  const all = () => [...result.tallies.values()].reduce(addTallies, NOTHING);

  it('was really killed everywhere, while people of all channels asked', () => {
    const spared = [...result.killed].filter(([, died]) => died === 0).map(([site]) => site);
    expect(spared).toEqual([]);
    expect([...result.tallies.keys()].sort()).toEqual(Object.keys(PEOPLE).sort());
    for (const { questions } of result.tallies.values()) expect(questions).toBeGreaterThan(3);
  });

  it('[D01] [D04] loses no question and no part of an answer', () => {
    expect(all()).toMatchObject({ lost: 0, lostOnes: [], failed: 0, misdirected: 0 });
  });

  it('[D02] keeps the order of each chat', () => {
    expect(all()).toMatchObject({ outOfOrder: 0 });
  });

  it('[D04] says nothing twice, and is certain of all where the channel knows repetitions', () => {
    expect(all()).toMatchObject({ doubled: 0, untold: 0 });
    for (const [channel, { uncertain }] of result.tallies)
      if (channel !== 'telegram') expect([channel, uncertain]).toEqual([channel, 0]);
  });

  it('ends by itself nowhere, whatever dies beside it', () => {
    expect(result.crashes).toEqual([]);
  });
}

describe('all in one process, killed at every point of the durable path', () => {
  promises('embedded');
});

// With servers of its own, since it kills them.
describe.runIf(redisUrl && postgresUrl)(
  '[D09] gateways, workers, Redis and PostgreSQL, killed at every point and together',
  () => {
    promises('distributed');
  },
);
