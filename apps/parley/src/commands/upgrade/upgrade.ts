import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemTime } from '@parley/core';
import { INSTALLATION } from '@parley/core/installation';
import { type CliContext, hasDatabase } from '../../cli.ts';
import { formatCommandLine, UsageError } from '../../data-folder.ts';
import { readSettings } from '../../settings.ts';
import { getCurrentMachine, type ServiceMachine, type ServiceManager } from '../service/manager.ts';
import { ACCEPTABLE } from './decide.ts';
import { findRelease } from './find-release.ts';
import { detectHowItRuns, type HowItRuns } from './how-it-runs.ts';
import {
  backUp,
  LIMITS,
  planRehearsal,
  type Rehearsal,
  type RehearsedInstallation,
  rehearse,
  removeOldCopies,
} from './rehearse.ts';
import { formatRefusal, formatRehearsal } from './report.ts';
import type { RehearsalLimits } from './run-release.ts';
import {
  chooseRelease,
  getReleasesFolder,
  RELEASES,
  type SwitchOutcome,
  switchAndWatch,
  type WatchTime,
} from './switch-release.ts';
import { takeSample } from './take-sample.ts';
import { type Release, readRelease, unpackRelease } from './unpack-release.ts';
import { createUpgradeError } from './upgrade-error.ts';
import { giveToOwner, readUpgradeState, type UpgradeState } from './upgrade-state.ts';
import { WATCH_LIMITS, type WatchLimits } from './watch.ts';

/** Exported from here because a separate module of the bundle would cost every start a file. */
export { completeReturn } from './return-to-older.ts';

export interface UpgradeFlags {
  readonly sha256?: string;
  /** The kinds of changes that are intended, separated by commas. */
  readonly accept?: string;
  /** Stops after the rehearsal. */
  readonly rehearse?: boolean;
}

/** The machine and the limits, which tests replace. */
export interface UpgradeContext {
  readonly machine: ServiceMachine;
  readonly limits: RehearsalLimits;
  readonly watch: WatchLimits;
  readonly time: WatchTime;
  readonly current: string;
  readonly launcherRoot?: string;
}

/**
 * `parley upgrade VERSION|FILE`: tries the new release on a copy of the data, and switches to it if
 * nothing is lost, doubled, leaked or slower. The exit code is 0 if the new release runs, or could
 * run where a person has to switch, and 1 otherwise.
 */
export async function runUpgrade(
  cli: CliContext,
  word: string | undefined,
  flags: UpgradeFlags,
  context: UpgradeContext = createUpgradeContext(cli),
): Promise<number> {
  const unfinished = readUpgradeState(cli.folder);
  if (unfinished !== null) return continueUpgrade(cli, unfinished, context);
  if (word === undefined)
    throw new UsageError('name a version such as 0.2.0, or the file of a packed release');
  const accepted = readAccepted(flags.accept);
  const { folder, env, print } = cli;
  const loaded = readSettings(folder, env);
  refusePostgres(loaded.settings.store.url);
  if (!hasDatabase(folder, loaded))
    throw createUpgradeError(
      'upgrade-rehearsal',
      `There is no database in ${folder.path}, so there is nothing to rehearse with. Install the new version, and start it.`,
    );
  removeOldCopies(folder);
  const own = join(folder.path, RELEASES);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const current = readRelease(context.current);
  let keepsFile = false;
  try {
    const url = loaded.settings.upgrade.url;
    const file = await findRelease({ word, sha256: flags.sha256, url, folder: own });
    const how = detectHowItRuns(cli, context.machine, file, context.launcherRoot);
    // The commands for a switch by hand name the downloaded file.
    keepsFile = how.kind === 'by-hand' && file.startsWith(own);
    const place = how.kind === 'by-hand' ? own : getReleasesFolder(how.launcherRoot);
    mkdirSync(place, { recursive: true, mode: 0o755 });
    const release = await unpackRelease(file, place, current);
    const installation = { folder, loaded, env, clock: context.time.clock };
    const rehearsal = await tryRelease(installation, { current, release }, accepted, {
      cli,
      context,
    });
    print(formatRehearsal(rehearsal).join('\n'));
    if (rehearsal.decision.kind === 'refuse') {
      rmSync(join(release.root, '..'), { recursive: true, force: true });
      print(formatRefusal(rehearsal.decision).join('\n'));
      return 1;
    }
    if (flags.rehearse) {
      print('Switch     not asked for, because of --rehearse. Nothing was changed.');
      return 0;
    }
    return await switchTo(cli, how, { current, release, installation, rehearsal }, context);
  } finally {
    if (!keepsFile) rmSync(own, { recursive: true, force: true });
  }
}

function createUpgradeContext({ env }: CliContext): UpgradeContext {
  return {
    ...{ machine: getCurrentMachine(env), limits: LIMITS, watch: WATCH_LIMITS },
    time: { ...systemTime, wait: (ms) => sleep(ms) },
    current: fileURLToPath(INSTALLATION),
  };
}

function readAccepted(text: string | undefined): readonly string[] {
  const kinds = text === undefined ? [] : text.split(',').map((kind) => kind.trim());
  const known: readonly string[] = ACCEPTABLE;
  const unknown = kinds.find((kind) => !known.includes(kind));
  if (unknown === undefined) return kinds;
  throw new UsageError(`--accept takes ${ACCEPTABLE.join(', ')}, not '${unknown}'`);
}

function refusePostgres(url: string | undefined): void {
  if (url === undefined) return;
  throw createUpgradeError(
    'upgrade-postgres',
    'The data is in PostgreSQL, of which Parley makes no copy, so the upgrade cannot be rehearsed. Nothing was changed. Copy the database with pg_dump and rehearse there, or upgrade one process after another: docs/upgrade.md and docs/deploy.md.',
  );
}

async function tryRelease(
  installation: RehearsedInstallation,
  releases: { readonly current: Release; readonly release: Release },
  accepted: readonly string[],
  { cli, context }: { readonly cli: CliContext; readonly context: UpgradeContext },
): Promise<Rehearsal> {
  const { folder, clock } = installation;
  const backup = join(folder.path, `.rehearsed-${clock()}.tar.gz`);
  try {
    await backUp(installation, backup);
    const plan = await planRehearsal(installation, backup, context.current, context.limits);
    try {
      return await rehearse(plan, releases, accepted, cli.print);
    } finally {
      await plan.close();
    }
  } finally {
    rmSync(backup, { force: true });
  }
}

interface ChosenUpgrade {
  readonly current: Release;
  readonly release: Release;
  readonly installation: RehearsedInstallation;
  readonly rehearsal: Rehearsal;
}

async function switchTo(
  cli: CliContext,
  how: HowItRuns,
  { current, release, installation, rehearsal }: ChosenUpgrade,
  context: UpgradeContext,
): Promise<number> {
  const { folder, print } = cli;
  if (how.kind === 'by-hand') {
    print(
      `Switch     Parley does not switch an installation of this kind. Run these two commands:`,
    );
    for (const command of how.commands) print(`           ${command}`);
    return 0;
  }
  const stamp = new Date(context.time.clock()).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  const backup = join(folder.path, `before-${release.version}-${stamp}.tar.gz`);
  await backUp(installation, backup);
  giveToOwner(backup, folder);
  print(`Backup     ${backup}`);
  if (how.kind === 'npm') {
    chooseRelease(how.launcherRoot, release);
    print(
      `Switched   Parley is not running; the next "${formatCommandLine('start', folder)}" starts ${release.version}.`,
    );
    return 0;
  }
  const { manager } = how;
  const at = { since: context.time.clock(), at: 0 };
  const now = await takeSample({ ...cli, manager }, at);
  const state: UpgradeState = {
    ...{ step: 'switching', from: current, to: release, launcherRoot: how.launcherRoot, backup },
    ...{ turnMs: now.turnMs, messagesPerMinute: rehearsal.recorded / 60 },
    canReturn: rehearsal.after.noWayBack === null,
  };
  const minutes = Math.round(context.watch.watchMs / 60_000);
  print(
    `Switch     to ${release.version}, watched for ${minutes} minutes: errors, silence, latency`,
  );
  return finishSwitch(cli, manager, state, context, now.deadLetters);
}

async function finishSwitch(
  cli: CliContext,
  manager: ServiceManager,
  state: UpgradeState,
  { time, watch }: UpgradeContext,
  deadLetters: number,
): Promise<number> {
  const { turnMs, messagesPerMinute } = state;
  const outcome = await switchAndWatch(cli, manager, state, {
    ...{ time, limits: watch, say: cli.print },
    baseline: { turnMs, messagesPerMinute, deadLetters },
  });
  if (outcome.kind === 'kept') removeOldReleases(state);
  cli.print(formatOutcome(outcome, state));
  return outcome.kind === 'kept' ? 0 : 1;
}

/** Keeps the release that runs and the one before it. */
function removeOldReleases({ launcherRoot, from, to }: UpgradeState): void {
  const folder = getReleasesFolder(launcherRoot);
  for (const name of readdirSync(folder)) {
    const root = join(folder, name, 'parley');
    const isUsed = [from, to].some((one) => resolve(one.root) === root);
    if (!isUsed) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function formatOutcome(outcome: SwitchOutcome, { from, to }: UpgradeState): string {
  if (outcome.kind === 'stays')
    return `Wrong      ${outcome.reason}. Parley ${to.version} stays, because you accepted that there is no way back; docs/upgrade.md says how to restore the backup.`;
  return outcome.kind === 'kept'
    ? `Kept       Parley ${to.version} runs, and nothing was noticed in ${Math.round(outcome.watchedMs / 60_000)} minutes.`
    : `Returned   to Parley ${from.version}, because ${outcome.reason}. Everything accepted since is kept.`;
}

/** Continues an upgrade that was killed after it had begun to switch. */
async function continueUpgrade(
  cli: CliContext,
  state: UpgradeState,
  context: UpgradeContext,
): Promise<number> {
  cli.print(
    `An upgrade from ${state.from.version} to ${state.to.version} was interrupted; it continues.`,
  );
  const how = detectHowItRuns(cli, context.machine, '', state.launcherRoot);
  if (how.kind !== 'service' || !existsSync(state.to.root))
    throw createUpgradeError(
      'upgrade-state',
      `The service that was being upgraded is gone. The launcher in ${state.launcherRoot} decides which version starts; remove ${join(cli.folder.path, 'upgrade.json')} when you have checked it.`,
    );
  return finishSwitch(cli, how.manager, state, context, 0);
}
