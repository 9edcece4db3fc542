import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { writeUpgraded } from '@parley/cli/bundle';
import { reasonOf } from '@parley/core';
import type { CliContext } from '../../cli.ts';
import type { ServiceManager } from '../service/manager.ts';
import { takeSample } from './take-sample.ts';
import type { Release } from './unpack-release.ts';
import {
  readUpgradeState,
  removeUpgradeState,
  type UpgradeState,
  writeUpgradeState,
} from './upgrade-state.ts';
import { judgeWatch, type WatchBaseline, type WatchLimits, type WatchSample } from './watch.ts';

/** Time for the watch, which tests replace. */
export interface WatchTime {
  readonly clock: () => number;
  readonly monotonic: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
}

/** The folder in an installation by npm that holds the releases of upgrades. */
export const RELEASES = 'releases';

const LOOK_INTERVAL_MS = 5_000;

/** Makes the launcher start a release from now on; its own one if `release` is the launcher's. */
export function chooseRelease(launcherRoot: string, release: Pick<Release, 'root'>): void {
  const inside = relative(realpathSync(launcherRoot), realpathSync(release.root));
  writeUpgraded(launcherRoot, inside === '' ? null : inside);
}

export type SwitchOutcome =
  | { readonly kind: 'kept'; readonly watchedMs: number }
  | { readonly kind: 'returned'; readonly reason: string }
  /** It should return, but the operator accepted that there is no way back. */
  | { readonly kind: 'stays'; readonly reason: string };

/**
 * Starts the new release and watches it; returns to the old one if it must. The state is written
 * before each step and the steps can be repeated, so an upgrade that is killed anywhere leaves an
 * installation that runs, and the next `parley upgrade` continues here.
 */
export async function switchAndWatch(
  cli: CliContext,
  manager: ServiceManager,
  state: UpgradeState,
  options: {
    readonly time: WatchTime;
    readonly limits: WatchLimits;
    readonly baseline: WatchBaseline;
    readonly say: (line: string) => void;
  },
): Promise<SwitchOutcome> {
  const { folder } = cli;
  if (state.step === 'returning')
    return goBack(cli, manager, state, 'it was already returning', options);
  writeUpgradeState(folder, state);
  chooseRelease(state.launcherRoot, state.to);
  const since = options.time.clock();
  try {
    await manager.start();
  } catch (error) {
    if (!state.canReturn) return { kind: 'stays', reason: reasonOf(error) };
    return goBack(cli, manager, state, `it does not start: ${reasonOf(error)}`, options);
  }
  const verdict = await watchRelease(cli, manager, since, options);
  if (verdict.kind === 'return' && !state.canReturn)
    return { kind: 'stays', reason: verdict.reason };
  if (verdict.kind === 'return') return goBack(cli, manager, state, verdict.reason, options);
  removeUpgradeState(folder);
  return { kind: 'kept', watchedMs: options.limits.watchMs };
}

type WatchOptions = Parameters<typeof switchAndWatch>[3];

async function watchRelease(
  { folder, env }: CliContext,
  manager: ServiceManager,
  since: number,
  { time, limits, baseline }: WatchOptions,
) {
  const startedAt = time.monotonic();
  const before = (await manager.state()).restarts;
  const samples: WatchSample[] = [];
  for (;;) {
    const at = time.monotonic() - startedAt;
    const sample = await takeSample({ folder, env, manager }, { since, at });
    samples.push({ ...sample, restarts: Math.max(0, sample.restarts - before) });
    const verdict = judgeWatch(samples, baseline, limits);
    if (verdict.kind !== 'watch') return verdict;
    await time.wait(Math.min(LOOK_INTERVAL_MS, limits.watchMs / 4));
  }
}

/** How long (ms) the old release may take to convert the data and to become ready. */
const BACK_WITHIN_MS = 10 * 60_000;

/**
 * Returns to the old release. It converts the data itself when it starts, so that a kill of this
 * process, or of the machine, does not leave the installation between the two.
 */
async function goBack(
  { folder, env }: CliContext,
  manager: ServiceManager,
  state: UpgradeState,
  reason: string,
  { time, say }: WatchOptions,
): Promise<SwitchOutcome> {
  say(`Returning to Parley ${state.from.version}: ${reason} …`);
  writeUpgradeState(folder, { ...state, step: 'returning' });
  chooseRelease(state.launcherRoot, state.from);
  await manager.start();
  const startedAt = time.monotonic();
  const isOver = () => time.monotonic() - startedAt > BACK_WITHIN_MS;
  const isBack = async () => {
    const { health } = await takeSample({ folder, env, manager }, { since: time.clock(), at: 0 });
    return readUpgradeState(folder) === null && (health === 'ready' || health === 'degraded');
  };
  while (!(await isBack()) && !isOver()) await time.wait(1_000);
  return { kind: 'returned', reason };
}

/** The folder into which the release of an installation by npm is unpacked. */
export function getReleasesFolder(launcherRoot: string): string {
  return join(launcherRoot, RELEASES);
}
