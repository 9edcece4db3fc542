import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Clock,
  isMissingFile,
  type Logger,
  type NewId,
  type Reader,
  reasonOf,
  silentLogger,
  systemTime,
} from '@parley/core';
import { type AgentFiles, openAgentFiles } from './agent-files.ts';
import { Bootstrap } from './bootstrap.ts';
import { findSkillAudience } from './file-audience.ts';
import { FileCache } from './file-cache.ts';
import { FileEditor } from './file-editor.ts';
import { FileHistory } from './file-history.ts';
import { FileWriter } from './file-writer.ts';
import { MemoryVersions } from './memory/memory-versions.ts';
import { listMarkdownFiles, WorkspaceError } from './paths.ts';
import { openShellCommands, type ShellCommands } from './shell-commands.ts';
import type { ManagedFile } from './soul.ts';
import { createLocalLock, type WorkspaceLock } from './workspace-lock.ts';
import { createViewFactory, type WorkspaceView } from './workspace-view.ts';

export interface OpenWorkspaceOptions {
  /**
   * The workspace folder, created at the first start. The folder itself may be a symbolic link, but
   * links inside it are refused.
   */
  readonly folder: string;
  /** The folder with the files for a new workspace. */
  readonly templates: string;
  /** `off`: MEMORY.md, memory/ and the groups' memory files look private to every reader (P15). */
  readonly memory?: 'main-session' | 'off';
  /** A file whose text is managed elsewhere (W06). */
  readonly governed?: ManagedFile;
  /** Files with another text in every view; the files themselves stay as they are. */
  readonly replaced?: readonly ManagedFile[];
  /** The lock that allows only one process at a time to write if several share the folder. */
  readonly lock?: WorkspaceLock;
  readonly log?: Logger;
  readonly clock?: Clock;
  /** Creates names for temporary files. */
  readonly newId?: NewId;
}

/** An agent's folder of Markdown files (W01). Files are read and written only through its views. */
export interface Workspace {
  /** The real path of the folder. */
  readonly folder: string;
  /** Files that were just created from templates; empty if the workspace already existed. */
  readonly created: readonly string[];
  /** The lifecycle of BOOTSTRAP.md (W08). */
  readonly bootstrap: Bootstrap;
  /** The rules for shell commands in this workspace (W09). */
  readonly commands: Pick<ShellCommands, 'run'>;
  /**
   * Files created by agents that are waiting for a person's decision, shown only to the owner
   * (W09).
   */
  readonly agentFiles: AgentFiles;
  /** The workspace's files as their owner edits them outside of turns. */
  readonly editor: FileEditor;
  /**
   * The workspace as this reader sees it. Creating a view is cheap, so create one for every turn.
   */
  for(reader: Reader): WorkspaceView;
}

/**
 * Opens the workspace, creating it at the first start. Throws WorkspaceError if the folder cannot
 * be used.
 */
export async function openWorkspace(options: OpenWorkspaceOptions): Promise<Workspace> {
  const {
    log = silentLogger,
    clock = systemTime.clock,
    newId = randomId,
    lock = createLocalLock(),
  } = options;
  const bootstrapIn = (place: string, held: WorkspaceLock) =>
    new Bootstrap({ folder: place, newId, log, lock: held });
  const created = await seedWorkspaceFolder(options.folder, options.templates, lock, (held) =>
    bootstrapIn(options.folder, held),
  );
  const folder = await realpath(options.folder);
  const files = new FileCache({ folder, clock, log });
  const history = new FileHistory({ folder, newId, clock, lock });
  const writer = new FileWriter({
    ...{ folder, newId, lock, history },
    inOwnersSkill: async (name) => (await findSkillAudience(files, name)) === 'owners',
  });
  const commands = openShellCommands({ folder, files, lock, newId, clock, log });
  await commands.sweep();
  const sources = {
    files,
    names: () => listMarkdownFiles(folder),
    writer,
    versions: new MemoryVersions({ folder, newId, clock, lock }),
    history,
    forgetful: options.memory === 'off',
    governed: options.governed,
    replaced: options.replaced ?? [],
    mayBeFromCommand: commands.mayBeFromCommand,
  };
  const view = createViewFactory(sources);
  const guest = view({ kind: 'guest', conversationId: '' });
  const { forgetful, governed } = sources;
  return {
    folder,
    created,
    editor: new FileEditor({
      ...{ folder, files, history, guest, forgetful },
      governed: governed !== undefined,
    }),
    commands,
    agentFiles: openAgentFiles({ ...sources, folder, lock, newId }),
    bootstrap: bootstrapIn(folder, lock),
    for: view,
  };
}

const randomId: NewId = (prefix) => `${prefix}-${randomUUID()}`;

/** The file whose absence means that a folder is not a workspace yet; it is copied last. */
const MARK_FILE = 'AGENTS.md';

/**
 * This file is copied only into an entirely new workspace (W08), because people with an existing
 * workspace already know their agent.
 */
const BOOTSTRAP_FILE = 'BOOTSTRAP.md';

/** Folders created in addition to the templates, without content. */
const EMPTY_FOLDERS = ['memory', 'skills', 'knowledge'];

/**
 * Creates the folder (mode 0700) and, if it does not contain AGENTS.md, copies every missing
 * template. An existing workspace is not changed, so that deleted files are not restored; an
 * interrupted first start continues at the next one. Returns the names of the files that were
 * created; throws WorkspaceError.
 */
async function seedWorkspaceFolder(
  folder: string,
  templates: string,
  lock: WorkspaceLock,
  bootstrap: (held: WorkspaceLock) => Bootstrap,
): Promise<readonly string[]> {
  if (await isWorkspace(folder)) return [];
  // Several processes may start for the first time on the same folder simultaneously.
  return lock.hold(async (hold) => {
    if (await isWorkspace(folder)) return [];
    return seedTemplates(folder, templates, bootstrap({ hold: (work) => work(hold) }));
  });
}

async function isWorkspace(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await pathExists(join(folder, MARK_FILE));
  } catch (error) {
    throw new WorkspaceError(
      'workspace-folder',
      `The workspace folder ${folder} cannot be created or opened (${reasonOf(error)}). Check the path and its permissions.`,
      error,
    );
  }
}

async function seedTemplates(
  folder: string,
  templates: string,
  bootstrap: Bootstrap,
): Promise<readonly string[]> {
  const names = await listTemplateNames(templates);
  // The mark is written before the first file, so that an interrupted start still counts as a first
  // one.
  if (names.includes(BOOTSTRAP_FILE) && (await isUnusedFolder(folder, names))) {
    await bootstrap.keep({ state: 'new' });
  }
  const isNew = (await bootstrap.mark()) !== null;
  const made: string[] = [];
  for (const name of EMPTY_FOLDERS) await makeFolder(join(folder, name));
  for (const name of names) {
    if (name === BOOTSTRAP_FILE && !isNew) continue;
    if (await copyIfAbsent(join(templates, name), join(folder, name))) made.push(name);
  }
  return made;
}

/** Whether none of a workspace's files and folders exist yet, in any spelling. */
async function isUnusedFolder(folder: string, names: readonly string[]): Promise<boolean> {
  const known = new Set([...names, ...EMPTY_FOLDERS].map((name) => name.toLowerCase()));
  const entries = await readdir(folder);
  return !entries.some((name) => known.has(name.toLowerCase()));
}

/** If an entry with this name already exists, even as a link, it is kept. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw createUnwritableError(path, error);
  }
}

function createUnwritableError(path: string, error: unknown): WorkspaceError {
  return new WorkspaceError(
    'workspace-folder',
    `${path} cannot be created in the workspace (${reasonOf(error)}). Check the permissions of the folder.`,
    error,
  );
}

async function listTemplateNames(templates: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(templates, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.md'));
    return names
      .map((entry) => entry.name)
      .sort((a, b) => rankMarkFile(a) - rankMarkFile(b) || (a < b ? -1 : 1));
  } catch (error) {
    throw new WorkspaceError(
      'workspace-templates',
      `The workspace templates in ${templates} cannot be read (${reasonOf(error)}). They are part of Parley: restore that folder.`,
      error,
    );
  }
}

function rankMarkFile(name: string): number {
  return name === MARK_FILE ? 1 : 0;
}

/**
 * Copies a file for its owner only, unless an entry with that name exists, even a dangling link.
 */
async function copyIfAbsent(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    await chmod(to, 0o600);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw createUnwritableError(to, error);
  }
}

async function pathExists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isMissingFile(error)) return false;
    throw error;
  }
}
