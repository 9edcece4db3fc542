import { link, mkdir, open, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type NewId, reasonOf } from '@parley/contracts';
import { AudienceFrontMatter } from '../file-audience.ts';
import { parseFileName } from '../file-name.ts';
import { readFrontMatter } from '../front-matter.ts';
import { walkPath } from '../walk-path.ts';
import { makeFolders } from '../write-file.ts';
import { asOwners } from '../write-rules.ts';
import { readInside } from './survey-folder.ts';

/** What became of a file that was to be copied; `exists`: something of that name was there and stays. */
export type CopyResult =
  | { readonly kind: 'copied' }
  | { readonly kind: 'exists' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Which file is copied, and how. */
export interface CopyOrder {
  readonly from: string;
  readonly to: string;
  readonly name: string;
  /** The copy says `audience: owner`, unless the file says for whom it is (W03). */
  readonly isMarked: boolean;
}

/**
 * Copies one file of a folder into a workspace under the same name, readable by this user alone: whole
 * or not at all, and never over anything. Makes the folders on the way. Never throws.
 */
export async function copyIntoWorkspace(
  { from, to, name, isMarked }: CopyOrder,
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
    const read = await readInside(from, path.segments);
    const bytes = isMarked ? markedCopy(read) : read;
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

/** The bytes of a file with `audience: owner` in its front matter, unless that says something of it already. */
export function markedCopy(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('utf8');
  const front = readFrontMatter(text, AudienceFrontMatter);
  const isUndecided = front.kind === 'none' || (front.kind === 'parsed' && !front.data.audience);
  return isUndecided ? Buffer.from(asOwners(text)) : bytes;
}

async function writeNew(path: string, bytes: Uint8Array): Promise<void> {
  await using handle = await open(path, 'wx', 0o600);
  await handle.writeFile(bytes);
  await handle.sync();
}
