import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { reasonOf } from '@parley/core';
import type { RestoreRequest } from '@parley/gateway';
import { type CarriedOver, carryOverFile, commitFate } from '@parley/store/backup';
import { z } from 'zod';
import { type DataFolder, isBusy, lockDataFolder, lockFolder } from '../../data-folder.ts';
import { readSettings } from '../../settings.ts';
import { BackupError } from './archive.ts';

const Exchange = z.object({
  /** What the old one is called in the folder aside; unique. */
  name: z.string(),
  path: z.string(),
  /** What comes to lie at `path`; null: the backup has nothing for that place. */
  staged: z.string().nullable(),
});
export type Exchange = z.infer<typeof Exchange>;

export const ExchangePlan = z.object({
  file: z.string(),
  /** The folder with what is ready; it belongs to the restore alone. */
  staging: z.string(),
  newAside: z.string(),
  exchanges: z.array(Exchange),
  /** SQLite: what waits in the file `from` is carried over into the file `to` first. */
  carry: z
    .object({
      from: z.string(),
      to: z.string(),
      unfinished: z.enum(['hold', 'go-on']),
      forget: z.array(z.object({ channel: z.string(), kind: z.string() })),
    })
    .nullable(),
  /** PostgreSQL: the files are exchanged only if this transaction was committed. */
  commit: z.object({ transaction: z.string(), settings: z.string() }).nullable(),
  /** Names the answer to a process that asked for the exchange. */
  id: z.string().optional(),
});
export type ExchangePlan = z.infer<typeof ExchangePlan>;

/**
 * Writes down what is to be exchanged, so that the next start can finish it after a kill. From here on the
 * restore happens as a whole, or, where its transaction was not committed, not at all.
 */
export function announceExchange(folder: DataFolder, plan: ExchangePlan): void {
  const part = `${folder.restoreMarker}.part`;
  writeFileSync(part, JSON.stringify(plan), { mode: 0o600, flush: true });
  renameSync(part, folder.restoreMarker);
}

export const Carried = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('carried'),
    messages: z.number(),
    parts: z.number(),
    letters: z.object({ unanswered: z.number(), uncertain: z.number() }),
  }),
  z.object({ kind: z.literal('unreadable'), reason: z.string() }),
]);

/** `aside`: where the files from before are; `carried`: what of them goes on. Null where there were none. */
export interface ExchangeResult {
  readonly aside: string | null;
  readonly carried: CarriedOver | null;
}

/** Exchanges in this process; a folder with a database in it must be no other one's meanwhile. */
export async function exchangeHere(
  folder: DataFolder,
  plan: ExchangePlan,
): Promise<ExchangeResult> {
  const { carry } = plan;
  const lock = carry === null ? null : lockDataFolder(folder);
  try {
    const isFirst = carry === null || !existsSync(carry.from);
    const carried = isFirst ? null : await carryOverFile(carry.to, carry.from, carry);
    return { ...exchangeFiles(folder, plan), carried };
  } finally {
    lock?.release();
  }
}

/**
 * Puts what was staged in its place and what was there into the folder aside; nothing is deleted. One
 * that was cut off is done once more with the same plan. `aside` is null when nothing was there.
 */
export function exchangeFiles(
  folder: DataFolder,
  plan: ExchangePlan,
): { readonly aside: string | null } {
  announceExchange(folder, plan);
  const { newAside: aside, exchanges } = plan;
  for (const { name, path, staged } of exchanges) {
    // It was put in its place before the cut.
    if (staged !== null && !existsSync(staged)) continue;
    const kept = join(aside, name);
    // The old state is kept already, so what is in its place is half of a restore.
    if (existsSync(path) && existsSync(kept)) clear(path);
    else if (existsSync(path)) move(path, kept);
    if (staged !== null) move(staged, path);
    rmSync(`${path}.gone`, { recursive: true, force: true });
  }
  rmSync(folder.restoreMarker);
  return { aside: existsSync(aside) ? aside : null };
}

/** The exchange that was cut off; null where none was. Throws BackupError for one that cannot be finished. */
export function unfinishedExchange(folder: DataFolder): ExchangePlan | null {
  if (!existsSync(folder.restoreMarker)) return null;
  const plan = ExchangePlan.safeParse(JSON.parse(readFileSync(folder.restoreMarker, 'utf8')));
  if (plan.success) return plan.data;
  throw new BackupError(
    'restore-unfinished',
    `A restore on ${folder.path} was cut off by an older Parley. Remove ${folder.restoreMarker} and run the restore once more; it names where the state from before is.`,
  );
}

/** Another file system, or a folder that something is mounted on. */
const CANNOT_RENAME: ReadonlySet<unknown> = new Set(['EXDEV', 'EBUSY', 'ENOTEMPTY', 'EPERM']);

function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  try {
    renameSync(from, to);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (!CANNOT_RENAME.has(code)) throw error;
    copyOver(from, to);
  }
}

/** A mounted folder cannot be moved, only emptied. What is half copied does not count as there. */
function copyOver(from: string, to: string): void {
  const isMounted = existsSync(to);
  const copy = isMounted ? to : `${to}.copying`;
  cpSync(from, copy, { recursive: true, preserveTimestamps: true });
  if (!isMounted) renameSync(copy, to);
  clear(from);
}

/** Removes it under another name, so that half of it is never seen; a mounted folder is emptied. */
function clear(path: string): void {
  const gone = `${path}.gone`;
  try {
    rmSync(gone, { recursive: true, force: true });
    renameSync(path, gone);
    rmSync(gone, { recursive: true });
  } catch {
    for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
  }
}

const Outcome = z.object({
  id: z.string(),
  aside: z.string().nullable(),
  carried: Carried.nullable(),
  /** Why nothing was changed; null when all of it was. */
  error: z.string().nullable(),
});
export type RestoreOutcome = z.infer<typeof Outcome>;

export function planFile(staging: string): string {
  return join(staging, 'plan.json');
}

function outcomeFile(folder: DataFolder): string {
  return join(folder.path, 'restored.json');
}

/**
 * Exchanges the state between two starts of the same process, and writes the outcome for the command. A
 * failure is reported there and changes nothing: the process goes on with what it had.
 */
export async function restoreHere(
  { id, staging }: RestoreRequest,
  folder: DataFolder,
): Promise<RestoreOutcome> {
  const outcome = await attempt(id, join(folder.path, staging), folder);
  leaveWord(folder, outcome);
  return outcome;
}

export function leaveWord(folder: DataFolder, outcome: RestoreOutcome): void {
  writeFileSync(outcomeFile(folder), JSON.stringify(outcome), { mode: 0o600 });
}

async function attempt(id: string, staging: string, folder: DataFolder): Promise<RestoreOutcome> {
  try {
    const plan = ExchangePlan.parse(JSON.parse(readFileSync(planFile(staging), 'utf8')));
    return { id, ...(await exchangeHere(folder, plan)), error: null };
  } catch (error) {
    return { id, aside: null, carried: null, error: reasonOf(error) };
  }
}

const LOOK_EVERY_MS = 200;

export async function outcomeOf(
  id: string,
  folder: DataFolder,
  withinMs: number,
): Promise<RestoreOutcome | null> {
  const file = outcomeFile(folder);
  for (let left = withinMs; left > 0; left -= LOOK_EVERY_MS) {
    await wait(LOOK_EVERY_MS);
    if (!existsSync(file)) continue;
    const outcome = parsed(readFileSync(file, 'utf8'));
    if (outcome?.id !== id) continue;
    rmSync(file);
    return outcome;
  }
  return null;
}

/** Undefined while it is being written. */
function parsed(text: string): RestoreOutcome | undefined {
  try {
    return Outcome.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

type WorkPrefix = 'restoring-' | 'backing-up-';

/** In a work folder: the name of an unfinished file that lies elsewhere. */
const ELSEWHERE = 'part';

/**
 * A folder in the data folder that lasts as long as a backup or a restore, locked, so that others know whether its
 * process lives. `part`: a file elsewhere to remove with it.
 */
export function openWorkFolder(
  folder: Pick<DataFolder, 'path'>,
  prefix: WorkPrefix,
  part?: string,
) {
  const path = mkdtempSync(join(folder.path, prefix));
  const lock = lockFolder(path);
  if (part !== undefined) writeFileSync(join(path, ELSEWHERE), part);
  return {
    path,
    remove(): void {
      lock.release();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Where a restore puts settings: beside their place, since what they say of folders is meant from there. */
export function settingsBeside(folder: DataFolder, staging: string): string {
  return join(dirname(folder.settingsFile), `.${basename(staging)}.yaml`);
}

/**
 * Cleans up after a backup or restore that was killed: an exchange that was started is finished, so that all
 * is of the restored state; before that, all is as it was. Then the leftovers are removed, but not those of
 * a process that is at work. Throws BackupError where an exchange cannot be finished.
 */
export async function tidyUp(folder: DataFolder, env: NodeJS.ProcessEnv): Promise<void> {
  const plan = unfinishedExchange(folder);
  if (plan !== null) await finish(folder, plan, env);
  rmSync(`${folder.restoreMarker}.part`, { force: true });
  removeLeftovers(folder, 'backing-up-');
  for (const path of removeLeftovers(folder, 'restoring-')) {
    rmSync(settingsBeside(folder, path), { force: true });
  }
}

/** Removes the work folders of killed processes with the unfinished files that they name; returns their paths. */
export function removeLeftovers(
  folder: Pick<DataFolder, 'path'>,
  prefix: WorkPrefix,
): readonly string[] {
  const removed: string[] = [];
  for (const name of readdirSync(folder.path)) {
    if (!name.startsWith(prefix)) continue;
    const path = join(folder.path, name);
    const lock = lockIfDead(path);
    if (lock === null) continue;
    const part = join(path, ELSEWHERE);
    if (existsSync(part)) rmSync(readFileSync(part, 'utf8'), { force: true });
    lock.release();
    rmSync(path, { recursive: true, force: true });
    removed.push(path);
  }
  return removed;
}

function lockIfDead(path: string): { release(): void } | null {
  try {
    return lockFolder(path);
  } catch (error) {
    if (isBusy(error)) return null;
    throw error;
  }
}

async function finish(
  folder: DataFolder,
  plan: ExchangePlan,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  if (!existsSync(plan.staging)) {
    throw unfinished(
      folder,
      `was cut off, and ${plan.staging} is gone. What was there before is in ${plan.newAside}: put it back by hand, remove ${folder.restoreMarker}, and run the restore once more`,
    );
  }
  // Who exchanges a database has the data folder; who exchanges files beside it, its own folder.
  const lock = plan.carry === null ? lockIfDead(plan.staging) : lockDataFolder(folder);
  if (lock === null) throw unfinished(folder, 'is running. Start again when it is done');
  try {
    if (plan.commit !== null && !(await isCommitted(folder, plan.commit, env))) {
      rmSync(folder.restoreMarker);
      return;
    }
    const { aside } = exchangeFiles(folder, plan);
    if (plan.id !== undefined) {
      leaveWord(folder, { id: plan.id, aside, carried: null, error: null });
    }
  } finally {
    lock.release();
  }
}

const ASK_EVERY_MS = 250;
/** The server notices within a second that the restore is dead. */
const LOOKS = 60;

async function isCommitted(
  folder: DataFolder,
  { transaction, settings: settingsFile }: NonNullable<ExchangePlan['commit']>,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const { settings } = readSettings({ ...folder, settingsFile }, env);
  for (let look = 0; look < LOOKS; look += 1) {
    const fate = await commitFate(settings.store.url ?? '', transaction);
    if (fate === 'committed' || fate === 'aborted') return fate === 'committed';
    if (fate === null) break;
    await wait(ASK_EVERY_MS);
  }
  throw unfinished(
    folder,
    `was cut off, and PostgreSQL does not say whether its tables were exchanged. Look into ${folder.restoreMarker}, remove it, and run the restore once more`,
  );
}

function unfinished(folder: DataFolder, what: string): BackupError {
  return new BackupError('restore-unfinished', `A restore on ${folder.path} ${what}.`);
}
