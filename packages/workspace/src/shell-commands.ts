import type { Dirent } from 'node:fs';
import { rmSync } from 'node:fs';
import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type Logger, type NewId, reasonOf } from '@parley/core';
import { isAlwaysPrivate, isGroupFile, isPrivateByDefault, isSkillFile } from './audience.ts';
import {
  createPaths,
  listPathsClosedToCommands,
  planClosedPaths,
  removePaths,
} from './closed-paths.ts';
import {
  type CommandNote,
  type CommandNotes,
  getThisProcess,
  isChangedSinceCommand,
  isStaleNote,
  openCommandNotes,
  removeEmptyFolder,
} from './command-notes.ts';
import { decideFileAudience } from './file-audience.ts';
import type { FileCache } from './file-cache.ts';
import { decodeFileText, type FileText } from './file-text.ts';
import { parseFile } from './front-matter.ts';
import { type FileName, listFiles, MAX_BYTES, parseFileName, walkPath } from './paths.ts';
import type { FilePattern } from './prompt-files.ts';
import type { LockHold, WorkspaceLock } from './workspace-lock.ts';
import { writeFileInside } from './write-file.ts';
import { restrictToOwner } from './write-rules.ts';

/** The rules for one shell command. */
export interface CommandRules {
  /**
   * The files that become prompt text, as the layers declare them, including files that do not
   * exist.
   */
  readonly promptFiles: readonly FilePattern[];
  /** The command's time limit, in ms. */
  readonly timeoutMs: number;
}

/**
 * The paths that a command can only read, relative to the workspace; `''` stands for the whole
 * workspace.
 */
export interface ReadOnlyPaths {
  /**
   * Paths that exist until the last command has ended, and that must not be written, created or
   * moved.
   */
  readonly closed: readonly string[];
  /** Files that others can read, if they still exist. */
  readonly readOnly: readonly string[];
}

interface ShellCommandsOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  readonly files: FileCache;
  readonly lock: WorkspaceLock;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly log: Logger;
}

const HOME = ['.parley', 'commands'];
/** More levels and files than any workspace has. */
const EVERYWHERE = { depth: 8, files: 1_000_000 };
/**
 * The maximum number of separate mounts; their cost grows quadratically. Public files beyond this
 * number can be written and then become private to the owner.
 */
const MAX_COVERED = 200;
/** Added to a command's time limit for starting and ending it, in ms. */
const MARGIN_MS = 60_000;

/**
 * How shell commands access a workspace (W09). Commands run in turns that can see private content,
 * and their writes bypass the views. They can therefore only read what others can read and what
 * becomes prompt text, and each file that they create is private to the owner, as if the owner's
 * turn had written it.
 */
export type ShellCommands = ReturnType<typeof openShellCommands>;

export function openShellCommands(options: ShellCommandsOptions) {
  const { folder, lock, newId, clock, log } = options;
  const home = join(folder, ...HOME);
  const notes = openCommandNotes(home);
  /**
   * Whether a running or crashed command may have created this file in its current state, so that
   * others must not read it.
   */
  const mayBeFromCommand = (name: FileName): boolean => {
    const current = notes.current();
    return (
      current.size > 0 &&
      [...current.values()].some((note) => isChangedSinceCommand(note, folder, name))
    );
  };
  const end = async (file: string, begun: CommandNote): Promise<void> => {
    try {
      await lock.hold(async (hold) => {
        const note = notes.read(file) ?? begun;
        await markCreatedFiles(options, note, hold);
        if (!(await transferFiles(options, notes, file, hold))) removePaths(folder, note.made);
        rmSync(join(home, file), { force: true });
        removeEmptyFolder(home);
      });
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'new files from a command stay hidden from others');
    }
  };
  return {
    mayBeFromCommand,
    /**
     * Runs `work` with the paths that its command may read but not write. New files then become
     * private to the owner; until then no other reader can see them, even if this process crashes
     * halfway.
     */
    async run<T>(
      { promptFiles, timeoutMs }: CommandRules,
      work: (covered: ReadOnlyPaths) => Promise<T>,
    ): Promise<T> {
      const file = `${newId('command')}.json`;
      const patterns = listPathsClosedToCommands(promptFiles);
      const closed = patterns.flatMap((name) => (name.endsWith('/') ? [name.slice(0, -1)] : []));
      const { open, readOnly } = await scanWorkspace(options, closed, mayBeFromCommand);
      const until = clock() + timeoutMs + MARGIN_MS;
      const note: CommandNote = { until, ...getThisProcess(), closed, open, made: [] };
      try {
        const paths = await lock.hold((hold) =>
          recordCommandPaths(options, file, { note, patterns }, hold),
        );
        return await work({ closed: paths, readOnly });
      } finally {
        await end(file, note);
      }
    },
    /** Cleans up after commands whose processes have crashed. */
    async sweep(): Promise<void> {
      for (const [file, note] of notes.current()) {
        if (isStaleNote(note, clock())) await end(file, note);
      }
    },
  };
}

/** Stores a note about a command and creates missing closed paths; throws if it cannot. */
async function recordCommandPaths(
  options: ShellCommandsOptions,
  file: string,
  { note, patterns }: { readonly note: CommandNote; readonly patterns: readonly FilePattern[] },
  hold: LockHold,
): Promise<readonly string[]> {
  const { paths, missing } = planClosedPaths(options.folder, patterns);
  // The paths are recorded before they are created, so that the next process removes them if this
  // one crashes.
  await writeNote(options, file, { ...note, made: missing }, hold);
  createPaths(options.folder, missing);
  return paths;
}

async function writeNote(
  { folder, newId }: ShellCommandsOptions,
  file: string,
  note: CommandNote,
  hold: LockHold,
): Promise<void> {
  const place = { name: file, segments: [...HOME, file] };
  const bytes = Buffer.from(JSON.stringify(note));
  const written = await writeFileInside(folder, place, bytes, { newId, hold });
  if (written.kind === 'refused') throw new Error(`Commands are not run: ${written.detail}.`);
}

/**
 * Hands the paths created for this command over to another running command. Removing a path would
 * remove the other command's mount, and that command could then create the path itself. False if no
 * other command is running.
 */
async function transferFiles(
  options: ShellCommandsOptions,
  notes: CommandNotes,
  file: string,
  hold: LockHold,
): Promise<boolean> {
  const now = options.clock();
  const heir = [...notes.current()].find(
    ([other, note]) => other !== file && !isStaleNote(note, now),
  );
  if (heir === undefined) return false;
  const [made, current] = [notes.read(file)?.made ?? [], notes.read(heir[0])];
  if (current === null) return false;
  const all = [...new Set([...current.made, ...made])];
  if (made.length > 0) await writeNote(options, heir[0], { ...current, made: all }, hold);
  return true;
}

/** Scans the folder; `open` is stored in the note, and `readOnly` is passed to the command. */
async function scanWorkspace(
  { folder, files }: ShellCommandsOptions,
  closed: readonly string[],
  mayBeFromCommand: (name: FileName) => boolean,
): Promise<Pick<CommandNote, 'open'> & Pick<ReadOnlyPaths, 'readOnly'>> {
  const open: Record<string, string> = {};
  const readOnly: string[] = [];
  for (const path of await listOpenableFiles(folder, closed)) {
    const found = walkPath(folder, path);
    if (found.kind !== 'file' || mayBeFromCommand(path)) continue;
    const isForOthers = !found.file.hasTwin && (await isOpenToEveryone(files, path));
    if (isForOthers || found.file.hasTwin) open[path.name] = found.file.fingerprint;
    if (isForOthers && readOnly.length < MAX_COVERED) readOnly.push(path.name);
  }
  return { open, readOnly };
}

/**
 * Lists the files outside these folders that others might be able to read, depending on their front
 * matter.
 */
async function listOpenableFiles(
  folder: string,
  closed: readonly string[],
  entriesOf?: (folder: string) => Promise<readonly Dirent[]>,
): Promise<readonly FileName[]> {
  const isOpenable = (name: string) =>
    !closed.some((parent) => name.startsWith(`${parent}/`)) &&
    !isGroupFile(name) &&
    !isAlwaysPrivate(name);
  const names = await listFiles(folder, isOpenable, EVERYWHERE, entriesOf);
  if (names.length >= EVERYWHERE.files) {
    throw new Error(`the workspace has more than ${EVERYWHERE.files} files`);
  }
  return names.flatMap((name) => parseFileName(name) ?? []);
}

/** Whether the views show a file to readers other than the owner. */
async function isOpenToEveryone(files: FileCache, path: FileName): Promise<boolean> {
  if (isPrivateByDefault(path.name) && !(await files.mayHaveFrontMatter(path))) return false;
  const file = await files.get(path);
  return !('reason' in file) && (await decideFileAudience(files, path, file)).kind === 'everyone';
}

/** Marks the files that a command has created as private to the owner; throws disk errors. */
async function markCreatedFiles(
  options: ShellCommandsOptions,
  note: CommandNote,
  hold: LockHold,
): Promise<void> {
  const { folder, files, log } = options;
  // A folder that a command made inaccessible even to Parley would become readable if its
  // permissions were restored.
  const made = await listOpenableFiles(folder, note.closed, readOpenedEntries);
  // A SKILL.md determines the audience of the files beside it, so it comes first.
  const ordered = [
    ...made.filter(({ name }) => isSkillFile(name)),
    ...made.filter(({ name }) => !isSkillFile(name)),
  ];
  for (const path of ordered) {
    if (!isChangedSinceCommand(note, folder, path)) continue;
    const found = walkPath(folder, path);
    // An empty file does not contain anything to protect, and may exist only because another
    // command is running.
    if (found.kind !== 'file' || found.file.bytes === 0) continue;
    const { hasTwin, isReadable } = found.file;
    if (!isReadable) await chmod(join(folder, ...path.segments), 0o600);
    if (!hasTwin && !(await isOpenToEveryone(files, path))) continue;
    if (await markFile(options, path, hasTwin, hold)) {
      log.info(
        { file: path.name },
        `${path.name} was created by a command and is now private to the owner`,
      );
    }
  }
}

/**
 * Marks a file as private to the owner; returns false if others could not read it. If a command
 * created a second name for a file, that name gets a copy, because others could read it once the
 * first name is gone.
 */
async function markFile(
  { folder, files, newId }: ShellCommandsOptions,
  path: FileName,
  replacesTwin: boolean,
  hold: LockHold,
): Promise<boolean> {
  const read = await files.bytes(path, MAX_BYTES);
  if ('reason' in read) {
    if (replacesTwin) return false;
    throw new Error(`${path.name} cannot be read again (${read.reason})`);
  }
  const decoded = decodeFileText(read.bytes);
  // A file that is not text cannot be marked. Other readers do not see such a file, unless it is
  // another name for a file that they do see.
  if (decoded.kind === 'refused') return false;
  if (replacesTwin && isOwnerFile(path, decoded)) return false;
  const bytes = addOwnerMark(path, Buffer.from(read.bytes), decoded);
  const written = await writeFileInside(folder, path, bytes, { newId, hold, replacesTwin });
  if (written.kind === 'refused') throw new Error(written.detail);
  return true;
}

/**
 * Adds the mark to a file without changing its other bytes: the mark is ASCII, which most encodings
 * contain. A UTF-16 file is converted to UTF-8, and so is a file in which the mark would not be
 * read correctly.
 */
function addOwnerMark(
  path: FileName,
  raw: Buffer,
  { text, encoding }: FileText & { readonly kind: 'text' },
): Buffer {
  const inUtf8 = Buffer.from(restrictToOwner(text, 'agent'));
  if (/^utf-/.test(encoding)) return inUtf8;
  const marked = Buffer.from(restrictToOwner(raw.toString('latin1'), 'agent'), 'latin1');
  return isOwnerFile(path, decodeFileText(marked)) ? marked : inUtf8;
}

function isOwnerFile({ name }: FileName, read: FileText): boolean {
  return read.kind === 'text' && parseFile(name, read.text, false).audience.kind === 'owner';
}

/** Reads a folder's entries, and makes the folder accessible first if needed. */
async function readOpenedEntries(folder: string): Promise<readonly Dirent[]> {
  const list = () => readdir(folder, { withFileTypes: true });
  try {
    return await list();
  } catch {
    await chmod(folder, 0o700).catch(() => {});
    return list().catch(() => []);
  }
}
