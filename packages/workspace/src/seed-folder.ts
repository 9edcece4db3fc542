import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { reasonOf } from '@parley/contracts';
import type { Bootstrap } from './bootstrap/bootstrap.ts';
import { WorkspaceError } from './workspace-error.ts';
import type { WorkspaceLock } from './workspace-lock.ts';

/** The file whose absence means that a folder is not a workspace yet; copied last. */
const MARK = 'AGENTS.md';

/** Copied only where the workspace is new altogether (W08): people who have one know their agent. */
const FIRST = 'BOOTSTRAP.md';

/** Made empty beside the templates. */
const FOLDERS = ['memory', 'skills', 'knowledge'];

/**
 * Makes the folder (mode 0700) and, where it holds no AGENTS.md, copies every template that it lacks.
 * A folder that is a workspace already is left exactly as it is, so that files somebody deleted on
 * purpose stay away; a first start that was cut short goes on at the next one.
 * Returns the names of the files it made. Throws WorkspaceError.
 */
export async function seedFolder(
  folder: string,
  templates: string,
  { lock, bootstrap }: Seeding,
): Promise<readonly string[]> {
  if (await isWorkspace(folder)) return [];
  // Several processes may start for the first time on the same folder at once.
  return lock.hold(async (hold) => {
    if (await isWorkspace(folder)) return [];
    return seed(folder, templates, bootstrap({ hold: (work) => work(hold) }));
  });
}

/** What seeding needs besides the folders. */
interface Seeding {
  readonly lock: WorkspaceLock;
  /** The life of BOOTSTRAP.md, under a lock that is held already. */
  readonly bootstrap: (held: WorkspaceLock) => Pick<Bootstrap, 'mark' | 'keep'>;
}

async function isWorkspace(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await exists(join(folder, MARK));
  } catch (error) {
    throw new WorkspaceError(
      'workspace-folder',
      `The workspace folder ${folder} cannot be made or opened (${reasonOf(error)}). Check the path and its permissions.`,
      error,
    );
  }
}

async function seed(
  folder: string,
  templates: string,
  bootstrap: Pick<Bootstrap, 'mark' | 'keep'>,
): Promise<readonly string[]> {
  const names = await templateNames(templates);
  // Noted before the first file is made, so that a start that is cut short is still a first one.
  if (names.includes(FIRST) && (await isUntouched(folder, names))) {
    await bootstrap.keep({ state: 'new' });
  }
  const isNew = (await bootstrap.mark()) !== null;
  const made: string[] = [];
  for (const name of FOLDERS) await makeFolder(join(folder, name));
  for (const name of names) {
    if (name === FIRST && !isNew) continue;
    if (await copyNew(join(templates, name), join(folder, name))) made.push(name);
  }
  return made;
}

/** Nothing of a workspace is there yet, however its names are written. */
async function isUntouched(folder: string, names: readonly string[]): Promise<boolean> {
  const known = new Set([...names, ...FOLDERS].map((name) => name.toLowerCase()));
  const entries = await readdir(folder);
  return !entries.some((name) => known.has(name.toLowerCase()));
}

/** Whatever stands in its place, a link included, stays. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw unwritable(path, error);
  }
}

function unwritable(path: string, error: unknown): WorkspaceError {
  return new WorkspaceError(
    'workspace-folder',
    `${path} cannot be made in the workspace (${reasonOf(error)}). Check the permissions of the folder.`,
    error,
  );
}

async function templateNames(templates: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(templates, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.md'));
    return names.map((entry) => entry.name).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  } catch (error) {
    throw new WorkspaceError(
      'workspace-templates',
      `The workspace templates in ${templates} cannot be read (${reasonOf(error)}). They are part of Parley: restore that folder.`,
      error,
    );
  }
}

function rank(name: string): number {
  return name === MARK ? 1 : 0;
}

/** Copies unless there is something of that name, be it a dangling link; the copy belongs to its owner alone. */
async function copyNew(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    await chmod(to, 0o600);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw unwritable(to, error);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
