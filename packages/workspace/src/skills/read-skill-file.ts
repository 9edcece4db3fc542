import { constants, lstatSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { identityOf, walkPath } from '../walk-path.ts';
import { diskReason } from '../workspace-error.ts';

/** A regular file of a skill, looked at and not yet read. */
export interface SkillFile {
  readonly kind: 'file';
  readonly fingerprint: string;
  /** Ms since 1970. */
  readonly changedAt: number;
  readonly identity: string;
}

/** Nothing to read, and why; for people. */
export type NoSkillFile =
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly reason: string };

/** Looks at a file of a skill without opening it or following a link. Never throws. */
export function lookAt(
  root: string,
  segments: readonly string[],
  maxBytes: number,
): SkillFile | NoSkillFile {
  try {
    const walked = walkPath(root, { segments });
    switch (walked.kind) {
      case 'missing':
        return walked;
      case 'link':
        return refused('a symbolic link is not followed');
      case 'not-a-file':
        return refused('not a regular file');
      case 'file': {
        const { file } = walked;
        if (file.hasTwin) return refused('it has a second name (a hard link)');
        if (file.bytes > maxBytes) return tooLarge(file.bytes, maxBytes);
        const { fingerprint, changedAt, identity } = file;
        return { kind: 'file', fingerprint, changedAt, identity };
      }
    }
  } catch (error) {
    return refused(`it cannot be read (${diskReason(error)})`);
  }
}

/** Reads a file that was looked at, unless it has become another one. Never throws. */
export async function readSkillFile(
  root: string,
  segments: readonly string[],
  looked: SkillFile,
  maxBytes: number,
): Promise<{ readonly kind: 'text'; readonly text: string } | NoSkillFile> {
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using handle = await open(join(root, ...segments), flags);
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile() || identityOf(stats) !== looked.identity) {
      return refused('it changed while it was read');
    }
    const bytes = await handle.readFile();
    if (bytes.length > maxBytes) return tooLarge(bytes.length, maxBytes);
    if (bytes.includes(0)) return refused('not a text file');
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    if (error instanceof TypeError) return refused('its text is not UTF-8');
    return refused(`it cannot be read (${diskReason(error)})`);
  }
}

/** Whether a step on the way to a folder is a symbolic link. Throws what the file system says. */
export function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function refused(reason: string): NoSkillFile {
  return { kind: 'refused', reason };
}

function tooLarge(bytes: number, maxBytes: number): NoSkillFile {
  return refused(`${bytes} bytes, at most ${maxBytes} are read`);
}
