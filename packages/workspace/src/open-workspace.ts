import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { type Clock, type Logger, type NewId, type Reader, silentLogger } from '@parley/contracts';
import { type Bootstrap, openBootstrap } from './bootstrap/bootstrap.ts';
import { createFileCache } from './file-cache.ts';
import type { FileName } from './file-name.ts';
import { createFileWriter } from './file-writer.ts';
import { listMarkdown } from './list-markdown.ts';
import { openMemoryVersions } from './memory/memory-versions.ts';
import { seedFolder } from './seed-folder.ts';
import { openShellCommands, type ShellCommands } from './shell-commands.ts';
import { liesInOwnersSkill } from './skill-folder-audience.ts';
import type { GovernedFile } from './soul/governed-file.ts';
import { localLock, type WorkspaceLock } from './workspace-lock.ts';
import { viewMaker, type WorkspaceView } from './workspace-view.ts';

/** How much of a workspace file is used. */
export interface WorkspaceLimits {
  /** Characters of one file that are shown; longer ones are cut and say so (P10). */
  readonly fileCharacters: number;
  /** Larger files are not read at all. */
  readonly fileBytes: number;
}

/** What a workspace uses unless the settings say otherwise: 20,000 characters, 1 MB. */
export const DEFAULT_WORKSPACE_LIMITS: WorkspaceLimits = {
  fileCharacters: 20_000,
  fileBytes: 1_000_000,
};

export interface OpenWorkspaceOptions {
  /** Made at the first start. May itself be a symbolic link; nothing inside it may. */
  readonly folder: string;
  /** Folder of the files a new workspace starts with. */
  readonly templates: string;
  readonly limits?: Partial<WorkspaceLimits>;
  /** `off`: MEMORY.md, memory/ and the memory files of groups look private to everybody (P15). */
  readonly memory?: 'main-session' | 'off';
  /** A file whose text is decided elsewhere (W06). */
  readonly governed?: GovernedFile;
  /** Where several processes share the folder, what lets one at a time write; else this process alone. */
  readonly lock?: WorkspaceLock;
  readonly log?: Logger;
  readonly clock?: Clock;
  /** Names temporary files. */
  readonly newId?: NewId;
}

/** An agent's folder of Markdown (W01). Gives out nothing but views. */
export interface Workspace {
  /** The real path. */
  readonly folder: string;
  /** Files that were made from templates just now; empty in a workspace that existed. */
  readonly created: readonly string[];
  /** The life of BOOTSTRAP.md (W08). */
  readonly bootstrap: Bootstrap;
  /** What commands of the shell may do here (W09). */
  readonly commands: Pick<ShellCommands, 'run'>;
  /** The workspace as this reader sees it. Cheap: make one for every turn. */
  for(reader: Reader): WorkspaceView;
}

/** Opens the workspace, making it at the first start. Throws WorkspaceError when the folder is no use. */
export async function openWorkspace(options: OpenWorkspaceOptions): Promise<Workspace> {
  const { log = silentLogger, clock = Date.now, newId = randomId, lock = localLock() } = options;
  const limits = { ...DEFAULT_WORKSPACE_LIMITS, ...options.limits };
  const life = (place: string, held: WorkspaceLock) =>
    openBootstrap({ folder: place, newId, log, lock: held });
  const created = await seedFolder(options.folder, options.templates, {
    lock,
    bootstrap: (held) => life(options.folder, held),
  });
  const folder = await realpath(options.folder);
  const files = createFileCache({ folder, maxBytes: limits.fileBytes, clock, log });
  const inOwnersSkill = (name: FileName) => liesInOwnersSkill(files, name);
  const bounds = { folder, maxBytes: limits.fileBytes };
  const writer = createFileWriter({ ...bounds, newId, lock, inOwnersSkill });
  const commands = openShellCommands({ folder, files, lock, newId, clock, log });
  await commands.sweep();
  const sources = {
    files,
    names: () => listMarkdown(folder),
    writer,
    versions: openMemoryVersions({ folder, newId, clock, lock }),
    fileCharacters: limits.fileCharacters,
    forgetful: options.memory === 'off',
    governed: options.governed,
    mayHaveMade: commands.mayHaveMade,
  };
  return {
    folder,
    created,
    commands,
    bootstrap: life(folder, lock),
    for: viewMaker(sources),
  };
}

const randomId: NewId = (prefix) => `${prefix}-${randomUUID()}`;
