import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type CarriedOver, carryOverFile } from '@parley/store/backup';
import { z } from 'zod';
import { type DataFolder, lockDataFolder } from '../data-folder.ts';
import { BackupError } from './backup-error.ts';

/** One place of the new state. */
const Exchange = z.object({
  /** What the old one is called in the folder aside; unique. */
  name: z.string(),
  path: z.string(),
  /** What comes to lie at `path`; null: the backup has nothing for that place. */
  staged: z.string().nullable(),
});
export type Exchange = z.infer<typeof Exchange>;

/** A new state that is ready beside the old one. */
export const ExchangePlan = z.object({
  /** The backup it was made of. */
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

/** What of the old database goes on in the new one. */
export const Carried = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('carried'),
    messages: z.number(),
    parts: z.number(),
    letters: z.object({ unanswered: z.number(), uncertain: z.number() }),
  }),
  z.object({ kind: z.literal('unreadable'), reason: z.string() }),
]);

/** Where the files from before are, and what was carried over from them; null where there were none. */
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
    // What is kept already is the old state, so what stands in its place is half of a restore.
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

/** Removes it under another name, so that nobody finds half of it; what is mounted is emptied. */
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
