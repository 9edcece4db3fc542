import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readRecentMessages } from '@parley/store/backup';
import type { DataFolder } from '../../data-folder.ts';
import type { LoadedSettings } from '../../settings.ts';
import { listWorkspaceFolders } from '../backup/contents.ts';
import { createBackup } from '../backup/make-backup.ts';
import { readRawSettings } from '../simulate/play-folder.ts';
import { type Decision, decideUpgrade } from './decide.ts';
import { listPlayedMessages } from './played-messages.ts';
import { giveFolder, restoreCopy } from './rehearsal-copy.ts';
import { type RehearsalModel, startRehearsalModel } from './rehearsal-model.ts';
import type { IsolatedRelease } from './release-process.ts';
import {
  type RehearsalLimits,
  type RehearsalPlan,
  type ReleaseRecord,
  runRelease,
} from './run-release.ts';
import type { Release } from './unpack-release.ts';
import { createUpgradeError } from './upgrade-error.ts';

/** The installation whose data is copied. */
export interface RehearsedInstallation {
  readonly folder: DataFolder;
  readonly loaded: LoadedSettings;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: () => number;
}

export interface Rehearsal {
  readonly before: ReleaseRecord;
  readonly after: ReleaseRecord;
  readonly decision: Decision;
  readonly recorded: number;
}

export const LIMITS: RehearsalLimits = {
  ...{ commandMs: 120_000, replayMs: 600_000, startMs: 90_000, stopMs: 15_000, runMs: 20_000 },
  ...{ answerMs: 15_000, unanswered: 3, settleMs: 2_000 },
};

/** The last hour's messages are played, at most this many. */
const RECORDED_MS = 60 * 60_000;
const MAX_PLAYED = 60;
const MAX_RECORDED = 10_000;

/** Backs up the installation while it runs. Returns the file. */
export async function backUp(
  { folder, loaded, clock }: RehearsedInstallation,
  file: string,
): Promise<void> {
  await createBackup({
    ...{ file, clock, dataFolder: folder.path, settingsFile: folder.settingsFile },
    database: folder.storeUrl.slice('sqlite:'.length),
    workspaces: listWorkspaceFolders(loaded, folder.path),
  });
}

/** Prepares a rehearsal on the data of a backup. `close` removes all copies. */
export async function planRehearsal(
  { folder, loaded, env, clock }: RehearsedInstallation,
  backup: string,
  currentRoot: string,
  limits: RehearsalLimits,
): Promise<RehearsalPlan & { readonly recorded: number; close(): Promise<void> }> {
  const home = mkdtempSync(join(folder.path, WORK_PREFIX));
  const base = join(home, 'base');
  const owner = findOwner(folder);
  giveFolder(home, owner);
  let model: RehearsalModel | undefined;
  const close = async () => {
    await model?.close();
    rmSync(home, { recursive: true, force: true });
  };
  try {
    const copied = await restoreCopy(backup, base, clock);
    const database = copied.storeUrl.slice('sqlite:'.length);
    const recorded = readRecentMessages(database, clock() - RECORDED_MS, MAX_RECORDED);
    const { owners } = loaded.settings;
    const messages = listPlayedMessages(recorded.slice(-MAX_PLAYED), owners);
    model = await startRehearsalModel(
      new Set(messages.filter(({ parts }) => parts > 1).map(({ number }) => number)),
    );
    return {
      ...{ base, messages, model, limits, currentRoot, owners, close, recorded: recorded.length },
      written: readRawSettings(folder.settingsFile),
      ...{ settingsFile: folder.settingsFile, secrets: loaded.secrets, env },
      canary: `the password is ${randomBytes(9).toString('hex')}`,
      owner,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const WORK_PREFIX = 'upgrading-';

/** Removes the copies that a killed upgrade has left. */
export function removeOldCopies({ path }: DataFolder): void {
  for (const name of readdirSync(path))
    if (/^(upgrading-|\.rehearsed-)/.test(name))
      rmSync(join(path, name), { recursive: true, force: true });
}

/** As root, releases run as the user who owns the data, and never as root. */
function findOwner({ path }: DataFolder): IsolatedRelease['owner'] {
  if (process.getuid?.() !== 0 || !existsSync(path)) return undefined;
  const { uid, gid } = statSync(path);
  return uid === 0 ? undefined : { uid, gid };
}

/** Runs the old and the new release on copies, and decides. */
export async function rehearse(
  plan: RehearsalPlan & { readonly recorded: number },
  { current, release }: { readonly current: Release; readonly release: Release },
  accepted: readonly string[],
  say: (line: string) => void,
): Promise<Rehearsal> {
  say(`Parley ${current.version} runs on a copy of the data, for comparison …`);
  const before = await runRelease(current, join(plan.base, '..', 'before'), plan);
  checkComparable(before);
  say(`Parley ${release.version} runs on another copy …`);
  const after = await runRelease(release, join(plan.base, '..', 'after'), plan);
  const decision = decideUpgrade(before, after, accepted);
  return { before, after, decision, recorded: plan.recorded };
}

/** Without a result of the old release there is nothing to compare with. */
function checkComparable({ run, answers, showsCanary, commands }: ReleaseRecord): void {
  const unanswered = answers.filter(({ tookMs }) => tookMs === null).length;
  const problem =
    run.kind === 'failed'
      ? run.reason
      : commands.conversations.code !== 0
        ? commands.conversations.err.trim()
        : unanswered === answers.length
          ? 'it answered none of the played messages'
          : showsCanary
            ? null
            : 'the private files of the owner are in none of the prompts';
  if (problem === null) return;
  throw createUpgradeError(
    'upgrade-rehearsal',
    `The upgrade cannot be rehearsed, because the version that runs now does not work on a copy of its data: ${problem}. Nothing was changed. "parley doctor" may show why; docs/upgrade.md describes an upgrade by hand.`,
  );
}
