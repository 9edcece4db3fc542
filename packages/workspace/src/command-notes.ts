import { readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type FileName, walkPath } from './paths.ts';

/**
 * The files that others could read when a command started, and files with a second name (a hard
 * link), by path. The note is stored on disk until the command has finished.
 */
export const CommandNote = z.object({
  until: z.number(),
  host: z.string(),
  pid: z.number(),
  /** When the process started; stored because process ids are reused. */
  started: z.number(),
  /** Folders that the command could not write to. */
  closed: z.array(z.string()),
  open: z.record(z.string(), z.string()),
  /** Empty files and folders that exist while commands run, so that no command can create them. */
  made: z.array(z.string()).default([]),
});
export type CommandNote = z.infer<typeof CommandNote>;

/** Notes about unfinished commands, stored in a folder, by file name. */
export interface CommandNotes {
  /** Reads each note once; if there are none, this costs one `stat` of a folder. */
  current(): ReadonlyMap<string, CommandNote>;
  /** Reads the note as it is on disk now; null if it has been removed. */
  read(file: string): CommandNote | null;
}

/** Opens the notes in the folder `home`, which need not exist. */
export function openCommandNotes(home: string): CommandNotes {
  const none: ReadonlyMap<string, CommandNote> = new Map();
  let known = none;
  const read = (file: string) => readNote(join(home, file));
  return {
    read,
    current() {
      if (statSync(home, { throwIfNoEntry: false })?.isDirectory() !== true) return none;
      const files = readdirSync(home).filter((file) => /^[^.].*\.json$/.test(file));
      known = new Map(
        files.flatMap((file) => {
          const note = known.get(file) ?? read(file);
          return note === null ? [] : [[file, note] as const];
        }),
      );
      return known;
    },
  };
}

/**
 * Returns null if the note has just been removed; notes are written atomically, so they are never
 * incomplete.
 */
function readNote(path: string): CommandNote | null {
  try {
    return CommandNote.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

/** Whether the content at a path has changed since the command started. */
export function isChangedSinceCommand(
  { closed, open }: CommandNote,
  folder: string,
  path: FileName,
): boolean {
  if (closed.some((parent) => path.name.startsWith(`${parent}/`))) return false;
  const found = walkPath(folder, path);
  return found.kind === 'file' && open[path.name] !== found.file.fingerprint;
}

export function getThisProcess(): Pick<CommandNote, 'host' | 'pid' | 'started'> {
  const { timeOrigin: started } = performance;
  return { host: hostname(), pid: process.pid, started };
}

/**
 * Whether the process that ran the command no longer exists, or the command must have ended long
 * ago.
 */
export function isStaleNote({ until, host, pid, started }: CommandNote, now: number): boolean {
  const own = getThisProcess();
  if (now > until) return true;
  if (host !== own.host) return false;
  if (pid === own.pid) return started !== own.started;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

/** Removes a folder if it is empty. */
export function removeEmptyFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The folder may be in use by another command, or may already have been removed.
  }
}
