import { type BigIntStats, type Dirent, lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BoundedMap } from '@parley/contracts';
import { parseFileName } from './file-name.ts';

/** Bounds of a listing; a workspace is a handful of notes, not a disk. */
const USUAL: ListBounds = { depth: 4, files: 2_000 };

/** How far a listing goes: folders within folders, and files in all. */
interface ListBounds {
  readonly depth: number;
  readonly files: number;
}

/** Paths of the Markdown files below `folder`, sorted; hidden entries and symbolic links are not entered. */
export async function listMarkdown(
  folder: string,
  bounds: ListBounds = USUAL,
  entriesOf: (folder: string) => Promise<readonly Dirent[]> = readEntries,
): Promise<readonly string[]> {
  const found: string[] = [];
  let level: readonly string[] = [''];
  for (let depth = 0; depth < bounds.depth && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const parent of level) {
      for (const entry of await entriesOf(join(folder, parent))) {
        const name = parent === '' ? entry.name : `${parent}/${entry.name}`;
        if (parseFileName(name) === null) continue;
        if (entry.isDirectory() && entry.name !== 'node_modules') next.push(name);
        if (entry.isFile() && /\.md$/i.test(entry.name)) found.push(name);
        if (found.length === bounds.files) return found.sort();
      }
    }
    level = next;
  }
  return found.sort();
}

/** A folder that has just been removed, or may not be read, has nothing to list. */
async function readEntries(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Folders whose entries are remembered. */
const FOLDERS = 500;
/** Two changes within this time can leave the same stamp; such a folder is read again next time. In ms. */
const SETTLED_MS = 50;
/** Some file systems keep no honest times of folders: after so long each is read again. In ms. */
const TRUSTED_MS = 2_000;

interface KnownFolder {
  readonly stamp: string;
  readonly readAt: number;
  readonly entries: readonly Dirent[];
}

/** `listMarkdown` that reads a folder again only once its entries have changed, which its times say. */
export function markdownLister(
  clock: () => number = Date.now,
): (folder: string) => Promise<readonly string[]> {
  const known = new BoundedMap<string, KnownFolder>(FOLDERS);
  const entriesOf = async (folder: string): Promise<readonly Dirent[]> => {
    const stats = lookAt(folder);
    if (stats === undefined || !stats.isDirectory()) return [];
    const { dev, ino, mtimeNs, ctimeNs } = stats;
    const stamp = `${dev}:${ino}:${mtimeNs}:${ctimeNs}`;
    const readAt = clock();
    const before = known.get(folder);
    if (before?.stamp === stamp && readAt - before.readAt < TRUSTED_MS) return before.entries;
    const entries = await readEntries(folder);
    if (readAt - Number(stats.ctimeMs) > SETTLED_MS) known.set(folder, { stamp, readAt, entries });
    return entries;
  };
  return (folder) => listMarkdown(folder, USUAL, entriesOf);
}

function lookAt(folder: string): BigIntStats | undefined {
  try {
    return lstatSync(folder, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined; // It may not be looked at, so it cannot be listed either.
  }
}
