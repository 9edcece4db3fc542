import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '@parley/contracts';
import { isInSkills, SKILL_FILE } from './audience.ts';
import { type ParsedFile, parseFile } from './front-matter.ts';
import { type FileName, type FoundFile, identityOf, walkPath } from './paths.ts';
import { diskReason } from './workspace-error.ts';

/** Why a file gives nothing, before anybody asks who reads it. */
export type FileFault =
  | { readonly reason: 'missing' }
  | { readonly reason: 'refused'; readonly detail: string }
  | { readonly reason: 'too-large'; readonly detail: string }
  | { readonly reason: 'unreadable'; readonly detail: string };

/** The files of one folder, parsed once and again whenever they change on disk (W07). */
export interface FileCache {
  /** The same object as long as the file stays as it is; at once where it is known, as nearly always. */
  get(name: FileName): ParsedFile | FileFault | Promise<ParsedFile | FileFault>;
}

interface Entry {
  readonly found: FoundFile;
  readonly file: ParsedFile;
}

/**
 * Two writes within this time can leave the same time stamp, so a file that changed less than this
 * before it was read is read again next time. Milliseconds; the coarsest common clock ticks at 10.
 */
const SETTLED_MS = 50;

/**
 * What is kept of all files together, in characters: the notes of years, about 8 MB. What was asked for
 * longest ago makes room, and a file that would take half of it is read anew each time.
 */
const KEPT_CHARACTERS = 4_000_000;
const MAX_KEPT_FILES = 2_000;

interface FileCacheOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  /** Larger files are not read at all. Bytes. */
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const FAULTS = {
  missing: { reason: 'missing' },
  link: { reason: 'refused', detail: 'a symbolic link is not followed' },
  'not-a-file': { reason: 'refused', detail: 'not a regular file' },
  // A folder on the way may have become a link since the walk: then this is another file.
  replaced: { reason: 'unreadable', detail: 'it was replaced while it was read; read it again' },
} as const;

/** A cache over `folder`; one `lstat` per path segment when nothing has changed. */
export function createFileCache(options: FileCacheOptions): FileCache {
  const kept = keptFiles();
  const read = async (name: FileName, found: FoundFile): Promise<ParsedFile | FileFault> => {
    try {
      const file = await load(options, name, found);
      if ('reason' in file) return file;
      const isSettled = options.clock() - found.changedAt > SETTLED_MS;
      kept.put(name.name, isSettled ? { found, file } : null);
      return file;
    } catch (error) {
      return faultOf(error);
    }
  };
  return {
    get(name) {
      try {
        const walked = walkPath(options.folder, name);
        if (walked.kind !== 'file') return FAULTS[walked.kind];
        const known = kept.get(name.name);
        return known?.found.isSameAs(walked.file) ? known.file : read(name, walked.file);
      } catch (error) {
        return faultOf(error);
      }
    },
  };
}

/** The files that were asked for last. */
function keptFiles() {
  const entries = new Map<string, Entry>();
  let characters = 0;
  const remove = (name: string): void => {
    characters -= entries.get(name)?.file.text.length ?? 0;
    entries.delete(name);
  };
  return {
    get(name: string): Entry | undefined {
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      entries.delete(name);
      entries.set(name, entry);
      return entry;
    },
    /** Null: what was kept of it is old, and nothing takes its place. */
    put(name: string, entry: Entry | null): void {
      remove(name);
      if (entry === null || entry.file.text.length > KEPT_CHARACTERS / 2) return;
      entries.set(name, entry);
      characters += entry.file.text.length;
      for (const oldest of entries.keys()) {
        if (characters <= KEPT_CHARACTERS && entries.size <= MAX_KEPT_FILES) break;
        remove(oldest);
      }
    },
  };
}

async function load(
  { folder, maxBytes, log }: FileCacheOptions,
  name: FileName,
  found: FoundFile,
): Promise<ParsedFile | FileFault> {
  if (found.bytes > maxBytes) return tooLarge(found.bytes, maxBytes);
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using handle = await open(join(folder, ...name.segments), flags);
  const opened = identityOf(await handle.stat({ bigint: true }));
  if (opened !== found.identity) return FAULTS.replaced;
  const bytes = await handle.readFile();
  if (bytes.length > maxBytes) return tooLarge(bytes.length, maxBytes);
  if (bytes.includes(0)) return { reason: 'unreadable', detail: 'not a text file' };
  const file = parseFile(name.name, new TextDecoder().decode(bytes), found.hasTwin);
  if (file.problem !== null) {
    log.warn(
      { file: name.name, problem: file.problem },
      `${name.name} is shown to the owner only, until its problem is mended`,
    );
  }
  return file;
}

function tooLarge(bytes: number, maxBytes: number): FileFault {
  return { reason: 'too-large', detail: `${bytes} bytes, at most ${maxBytes} are read` };
}

function faultOf(error: unknown): FileFault {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { reason: 'missing' };
  if (code === 'ELOOP') return FAULTS.link;
  return { reason: 'unreadable', detail: diskReason(error) };
}

/**
 * Whether a file lies in the folder of a skill that is the owner's: its scripts and references are the
 * owner's, too, without saying so themselves (W03). The same where SKILL.md cannot be read.
 */
export async function liesInOwnersSkill(
  files: FileCache,
  { segments }: FileName,
): Promise<boolean> {
  if (!isInSkills(segments)) return false;
  // Of its own SKILL.md the audience is known anyway.
  const isSkill = segments.at(-1) === SKILL_FILE;
  for (let depth = segments.length - (isSkill ? 2 : 1); depth > 1; depth -= 1) {
    const path = [...segments.slice(0, depth), SKILL_FILE];
    const skill = await files.get({ name: path.join('/'), segments: path });
    const isOwners =
      'reason' in skill ? skill.reason !== 'missing' : skill.audience.kind === 'owner';
    if (isOwners) return true;
  }
  return false;
}
