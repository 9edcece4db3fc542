import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDueToday, isFullRun } from '@parley/core/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DeploymentName } from './deployment.ts';
import { type KillSite, listKillSites } from './kill.ts';
import { runSeries, type SeriesResult } from './series.ts';
import { addTallies, NOTHING } from './tally.ts';

// The short form of the crash matrix, with few chats: within four days, it kills once at each
// durable point, and also kills gateways, workers and their servers. A full run
// (`PARLEY_TEST_WHOLE=1`) kills at every site; `npm run crash` is the long form.

/**
 * The two transports of Slack events alternate every second day, so that each transport meets the
 * sites of both days.
 */
const SLACK = {
  slack: isDueToday(0, 4) || isDueToday(1, 4) ? 3 : 0,
  'slack-socket': isDueToday(2, 4) || isDueToday(3, 4) ? 3 : 0,
};
const PEOPLE = { telegram: 3, discord: 3, whatsapp: 3, ...SLACK, web: 3 };
/** The limit is generous because a busy machine is slow. */
const TIMEOUT_MS = 600_000;

/**
 * The kill sites of a normal run: each durable point in one of the deployments, some of them each
 * day. The simulation also kills between any two steps every day, although it does not kill real
 * processes.
 */
export const SITES: Readonly<Record<DeploymentName, readonly KillSite[]>> = {
  embedded: [
    ...['received', 'inbox-committed', 'model-called', 'step-journalled', 'turn-committed'],
    ...['part-sending', 'part-recorded', 'account-taken'],
  ],
  // The embedded deployment has no servers and only one process that can be killed. A second of the
  // distributed tests costs three times as much processor time.
  distributed: ['turn-claimed', 'part-sent', 'gateway + worker', 'postgres + redis'],
};
/**
 * The number of questions that people ask. In a normal run, few questions per channel are waiting
 * at a time, so that little accumulates while a process starts, however long that takes; every
 * point is still passed within seconds.
 */
const ASKING = isFullRun()
  ? { pauseMs: 150, mostWaiting: 100, heardBetween: 12 }
  : { pauseMs: 500, mostWaiting: 4, heardBetween: 4 };
/**
 * How many delivered parts may be reported as uncertain when few processes die, because a kill may
 * interrupt their sending.
 */
const FEW_NEEDLESS = 2;

/** The number of days after which every site of a deployment has been tested. */
const DAYS = { embedded: 2, distributed: 4 } as const;

/** Declares the tests of one deployment, which is started and killed in `beforeAll`. */
export function testCrashPromises(deployment: DeploymentName): void {
  const sites = isFullRun()
    ? listKillSites(deployment)
    : SITES[deployment].filter((_, nth) => isDueToday(nth, DAYS[deployment]));
  const depth = isFullRun() ? 'several lives' : 'one life';
  const seed = Date.now() % 1_000_000;
  let folder: string;
  let result: SeriesResult;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-crash-test-'));
    const load = { people: PEOPLE, questions: 0, rounds: 1, ...ASKING };
    result = await runSeries({ deployment, folder, sites, depth, seed, ...load });
  }, TIMEOUT_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const all = () => [...result.tallies.values()].reduce(addTallies, NOTHING);
  /** Printed with a failure, because the same series cannot be reproduced. */
  const story = () =>
    `Seed ${seed}: ${JSON.stringify(Object.fromEntries(result.tallies), null, 2)}\n`;

  it('is killed at every site while people on all channels ask', () => {
    const spared = [...result.killed].filter(([, died]) => died === 0).map(([site]) => site);
    expect(spared, story()).toEqual([]);
    const asking = Object.entries(PEOPLE).filter(([, people]) => people > 0);
    expect([...result.tallies.keys()].sort()).toEqual(asking.map(([channel]) => channel).sort());
    for (const { questions } of result.tallies.values()) expect(questions).toBeGreaterThan(3);
  });

  it('[D01] [D04] does not lose questions or parts of answers', () => {
    expect(all(), story()).toMatchObject({ lost: 0, failed: 0, misdirected: 0 });
  });

  it('[D02] keeps the order of each chat', () => {
    expect(all(), story()).toMatchObject({ outOfOrder: 0 });
  });

  it('[D04] sends nothing twice, and leaves no part uncertain on channels that recognize repetitions', () => {
    expect(all(), story()).toMatchObject({ doubled: 0, untold: 0 });
    for (const [channel, { uncertain }] of result.tallies)
      if (channel !== 'telegram') expect([channel, uncertain], story()).toEqual([channel, 0]);
  });

  // A gateway that takes over does not have the records of the killed gateway.
  if (deployment === 'embedded')
    it('[D04] rarely reports a part as uncertain that has arrived', () => {
      const deaths = [...result.killed.values()].reduce((sum, died) => sum + died, 0);
      expect(all().needless, story()).toBeLessThanOrEqual(Math.max(FEW_NEEDLESS, deaths / 8));
    });

  it('keeps every process running that is not killed', () => {
    expect(result.crashes, story()).toEqual([]);
  });
}
