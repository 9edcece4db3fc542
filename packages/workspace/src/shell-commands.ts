import { readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Clock, type Logger, type NewId, reasonOf } from '@parley/core';
import { z } from 'zod';
import { type FileCache, liesInOwnersSkill } from './file-cache.ts';
import { type FileName, listMarkdown, parseFileName, walkPath } from './paths.ts';
import { contentOf, type Hold, type WorkspaceLock, writeFileInside } from './write-file.ts';
import { asOwners } from './write-rules.ts';

/** The rules of one command. */
export interface CommandRules {
  /** Whether a file becomes prompt text: commands can only read it, and folders of such files. */
  readonly isPromptFile: (name: string) => boolean;
  /** The time limit of the command, in ms. */
  readonly timeoutMs: number;
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

/** Closed to commands whether they exist or not; the sandbox makes the missing ones for the time of a command. */
export const CLOSED_TO_COMMANDS: readonly string[] = ['SOUL.md', '.parley/', 'skills/', 'groups/'];

const HOME = ['.parley', 'commands'];
/** The deepest names, and more files than a workspace has. */
const EVERYWHERE = { depth: 8, files: 1_000_000 };
/**
 * Each path is a mount of its own, and their cost grows with the square. Further open files can be
 * written, and are the owner's from then on.
 */
const MOST_COVERED = 200;
/** Added to the time of a command for its start and end, in ms. */
const AROUND = 60_000;

/** What others could read when a command started, by path; on the disk until the command is finished. */
const Note = z.object({
  until: z.number(),
  host: z.string(),
  pid: z.number(),
  /** Start time of that process, since process ids are reused. */
  started: z.number(),
  /** Folders that the command could not write. */
  closed: z.array(z.string()),
  open: z.record(z.string(), z.string()),
});
type Note = z.infer<typeof Note>;

/**
 * What shell commands may do to a workspace (W09). They run where private parts can be reached, and what
 * they write passes no view: so they can only read what others can read, and each Markdown file that they
 * make is the owner's, as if the owner's turn had written it.
 */
export type ShellCommands = ReturnType<typeof openShellCommands>;

/** Opens the commands of a workspace. */
export function openShellCommands(options: ShellCommandsOptions) {
  const { folder, lock, newId, clock, log } = options;
  const home = join(folder, ...HOME);
  const notes = noteReader(home);
  /** Whether a command that runs, or died, may have made this file as it is now: others must not read it. */
  const mayBeFromCommand = (name: FileName): boolean => {
    const current = notes();
    return current.size > 0 && [...current.values()].some((note) => isNew(folder, note, name));
  };
  const end = async (file: string, note: Note): Promise<void> => {
    try {
      await lock.hold((hold) => makeOwners(options, note, hold));
      rmSync(join(home, file), { force: true });
      removeEmpty(home);
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'new files of a command stay hidden from others');
    }
  };
  return {
    mayBeFromCommand,
    /**
     * Runs `work` with the paths that its command must only be able to read. New files are then made the
     * owner's; until then no one else can read them, also when this process dies on the way.
     */
    async run<T>(
      { isPromptFile, timeoutMs }: CommandRules,
      work: (readOnly: readonly string[]) => Promise<T>,
    ): Promise<T> {
      const file = `${newId('command')}.json`;
      const { closed, open, readOnly } = await scan(options, isPromptFile, mayBeFromCommand);
      const until = clock() + timeoutMs + AROUND;
      const note: Note = { until, ...thisProcess(), closed, open };
      const place = { name: file, segments: [...HOME, file] };
      const kept = await lock.hold((hold) =>
        writeFileInside(folder, place, Buffer.from(JSON.stringify(note)), { newId, hold }),
      );
      if (kept.kind === 'refused') throw new Error(`Commands are not run: ${kept.detail}.`);
      try {
        return await work(readOnly);
      } finally {
        await end(file, note);
      }
    },
    /** Finishes the commands of dead processes. */
    async sweep(): Promise<void> {
      for (const [file, note] of notes()) {
        if (isDead(note, clock())) await end(file, note);
      }
    },
  };
}

/** Reads the notes, each once. Costs one `stat` of a folder while there are none. */
function noteReader(home: string): () => ReadonlyMap<string, Note> {
  const none: ReadonlyMap<string, Note> = new Map();
  let known = none;
  return () => {
    if (statSync(home, { throwIfNoEntry: false })?.isDirectory() !== true) return none;
    const files = readdirSync(home).filter((file) => /^[^.].*\.json$/.test(file));
    known = new Map(
      files.flatMap((file) => {
        const note = known.get(file) ?? readNote(join(home, file));
        return note === null ? [] : [[file, note] as const];
      }),
    );
    return known;
  };
}

/** Null where it was removed a moment ago; notes are written whole, so none is broken. */
function readNote(path: string): Note | null {
  try {
    return Note.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

function thisProcess(): Pick<Note, 'host' | 'pid' | 'started'> {
  const { timeOrigin: started } = performance;
  return { host: hostname(), pid: process.pid, started };
}

function isDead({ until, host, pid, started }: Note, now: number): boolean {
  const own = thisProcess();
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

function isNew(folder: string, { closed, open }: Note, path: FileName): boolean {
  if (closed.some((parent) => path.name.startsWith(`${parent}/`))) return false;
  const found = walkPath(folder, path);
  return found.kind === 'file' && open[path.name] !== found.file.fingerprint;
}

/** What others can read now, and what the command must not change. */
async function scan(
  { folder, files }: ShellCommandsOptions,
  isPromptFile: CommandRules['isPromptFile'],
  mayBeFromCommand: (name: FileName) => boolean,
): Promise<Pick<Note, 'closed' | 'open'> & { readonly readOnly: readonly string[] }> {
  const closed = CLOSED_TO_COMMANDS.filter((name) => name.endsWith('/')).map((name) =>
    name.slice(0, -1),
  );
  const readOnly: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (closed.includes(entry.name) || parseFileName(entry.name) === null) continue;
    if (entry.isDirectory() && isPromptFile(`${entry.name}/any.md`)) closed.push(entry.name);
    if (entry.isFile() && isPromptFile(entry.name)) readOnly.push(entry.name);
  }
  const open: Record<string, string> = {};
  for (const path of await openFiles(folder, files, closed)) {
    const found = walkPath(folder, path);
    if (found.kind !== 'file' || mayBeFromCommand(path)) continue;
    open[path.name] = found.file.fingerprint;
    readOnly.push(path.name);
  }
  const covered = [...new Set([...closed, ...readOnly])].slice(0, MOST_COVERED);
  return { closed, open, readOnly: covered };
}

/** The Markdown files that others can read, outside these folders. */
async function openFiles(
  folder: string,
  files: FileCache,
  closed: readonly string[],
): Promise<readonly FileName[]> {
  const open: FileName[] = [];
  for (const name of await listMarkdown(folder, EVERYWHERE)) {
    const path = parseFileName(name);
    if (path === null || closed.some((parent) => name.startsWith(`${parent}/`))) continue;
    const file = await files.get(path);
    if ('reason' in file || file.audience.kind === 'owner') continue;
    if (!(await liesInOwnersSkill(files, path))) open.push(path);
  }
  return open;
}

/** Marks the files that a command has made. Throws when the disk refuses. */
async function makeOwners(
  { folder, files, newId, log }: ShellCommandsOptions,
  note: Note,
  hold: Hold,
): Promise<void> {
  for (const path of await openFiles(folder, files, note.closed)) {
    if (!isNew(folder, note, path)) continue;
    const before = await contentOf(folder, path);
    if (before.kind === 'refused') throw new Error(before.detail);
    if (before.text === null) continue;
    const bytes = Buffer.from(asOwners(before.text, 'agent'));
    const written = await writeFileInside(folder, path, bytes, { newId, hold });
    if (written.kind === 'refused') throw new Error(written.detail);
    log.info({ file: path.name }, `${path.name} was made by a command: it is the owner's now`);
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Another command runs, or it was removed already.
  }
}
