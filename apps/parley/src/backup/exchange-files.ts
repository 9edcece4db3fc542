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
import { z } from 'zod';
import type { DataFolder } from '../data-folder.ts';
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

/** A new state that is ready beside the old one. `file`: the backup it was made of. */
export const ExchangePlan = z.object({
  file: z.string(),
  newAside: z.string(),
  exchanges: z.array(Exchange),
});
export type ExchangePlan = z.infer<typeof ExchangePlan>;

const Marker = z.object({ aside: z.string(), file: z.string() });

/** Throws BackupError `restore-unfinished` while a data folder is half old, half restored. */
export function refuseHalfRestored(folder: DataFolder): void {
  const marker = readMarker(folder);
  if (marker === null) return;
  throw new BackupError(
    'restore-unfinished',
    `A restore on ${folder.path} was cut off in the middle. Run "parley restore ${marker.file}" once more; what was there before it lies in ${marker.aside}.`,
  );
}

/**
 * Puts what was staged in its place and what was there into the folder `aside`; nothing is deleted. One
 * that was cut off is done once more with the same `aside`: what lies there already is the old state,
 * and what stands in its place is half of a restore. `aside` is null when nothing was there.
 */
export function exchangeFiles(
  folder: DataFolder,
  { file, exchanges, newAside }: ExchangePlan,
): { readonly aside: string | null } {
  const aside = readMarker(folder)?.aside ?? newAside;
  writeFileSync(folder.restoreMarker, JSON.stringify({ aside, file }), {
    mode: 0o600,
    flush: true,
  });
  for (const { name, path, staged } of exchanges) {
    const kept = join(aside, name);
    if (existsSync(path) && existsSync(kept)) rmSync(path, { recursive: true });
    else if (existsSync(path)) move(path, kept);
    if (staged !== null && existsSync(staged)) move(staged, path);
  }
  rmSync(folder.restoreMarker);
  return { aside: existsSync(aside) ? aside : null };
}

function readMarker({ restoreMarker: path }: DataFolder): z.infer<typeof Marker> | null {
  return existsSync(path) ? Marker.parse(JSON.parse(readFileSync(path, 'utf8'))) : null;
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
  for (const name of readdirSync(from)) rmSync(join(from, name), { recursive: true });
}
