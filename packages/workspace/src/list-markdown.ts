import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
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
async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
