import { link, mkdir, open, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type NewId, reasonOf } from '@parley/contracts';
import { parseFileName } from '../file-name.ts';
import { walkPath } from '../walk-path.ts';
import { makeFolders } from '../write-file.ts';
import { readInside } from './survey-folder.ts';

/** What became of a file that was to be copied; `exists`: something of that name was there and stays. */
export type CopyResult =
  | { readonly kind: 'copied' }
  | { readonly kind: 'exists' }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * Copies one file of a folder into a workspace under the same name, for its owner alone: whole or not
 * at all, and never over anything. Makes the folders on the way. Never throws.
 */
export async function copyIntoWorkspace(
  from: string,
  to: string,
  name: string,
  newId: NewId,
): Promise<CopyResult> {
  const path = parseFileName(name);
  if (path === null) return { kind: 'failed', reason: 'its name cannot be used in a workspace' };
  try {
    await mkdir(to, { recursive: true, mode: 0o700 });
    const folder = await realpath(to);
    const parents = path.segments.slice(0, -1);
    const blocked = await makeFolders(folder, parents);
    if (blocked !== null) return { kind: 'failed', reason: blocked.detail };
    if (walkPath(folder, path).kind !== 'missing') return { kind: 'exists' };
    const bytes = await readInside(from, path.segments);
    const temporary = join(folder, ...parents, `.${newId('i')}.tmp`);
    try {
      await writeNew(temporary, bytes);
      // Unlike a renaming, a link never takes the place of what somebody made meanwhile.
      await link(temporary, join(folder, ...path.segments));
    } finally {
      await rm(temporary, { force: true });
    }
    return { kind: 'copied' };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      return { kind: 'exists' };
    }
    return { kind: 'failed', reason: reasonOf(error) };
  }
}

async function writeNew(path: string, bytes: Uint8Array): Promise<void> {
  await using handle = await open(path, 'wx', 0o600);
  await handle.writeFile(bytes);
  await handle.sync();
}
