import { lstatSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { listSkillFolders } from '@parley/workspace';
import type { DataFolder } from '../../data-folder.ts';
import { type LoadedSettings, listAgents } from '../../settings.ts';
import { readMcpChanges } from './mcp-accepted.ts';

export interface FileFact {
  readonly path: string;
  readonly kind:
    | ('data' | 'settings' | 'token' | 'database' | 'backup' | 'workspace' | 'other')
    // Code that Parley runs or reads as instructions. Other users may read these files but must not
    // change them.
    | ('skills' | 'plugin');
  readonly mode: number;
  readonly uid: number;
  /** Whether the file's group is the primary group of the user who runs Parley. */
  readonly isOwnGroup: boolean;
}

export type FileFacts = ReturnType<typeof collectFileFacts>;

type PluginFolders = readonly { readonly folder: string | null }[];

export function collectFileFacts(
  folder: DataFolder,
  loaded: LoadedSettings,
  plugins: PluginFolders,
) {
  const { settings } = loaded;
  const [, ...named] = listAgents(loaded);
  const fact = createFileFactReader(process.getgid?.() ?? null);
  return {
    files: [
      ...listFileFacts(folder, settings, plugins, fact),
      ...named.flatMap((one) => fact(one.settings.agent.workspace, 'workspace')),
    ],
    /** The user id is null on operating systems where files have no owner. */
    uid: process.getuid?.() ?? null,
    mcpChanges: readMcpChanges(folder).filter(({ server }) => Object.hasOwn(settings.mcp, server)),
  };
}

function listFileFacts(
  folder: DataFolder,
  { agent, skills }: LoadedSettings['settings'],
  plugins: PluginFolders,
  fact: ReadFileFact,
): readonly FileFact[] {
  const inData = listEntries(folder.path).map((name) => {
    const path = join(folder.path, name);
    // The schema file is the same in every installation and does not contain private data.
    const isElsewhere = path === agent.workspace || name === 'parley.schema.json';
    return isElsewhere ? [] : fact(path, getFileKind(folder, path));
  });
  const secrets = join(folder.path, 'secrets');
  const inSecrets = listEntries(secrets).flatMap((name) => fact(join(secrets, name), 'token'));
  const isOutside = relative(folder.path, folder.settingsFile).startsWith('..');
  const base = dirname(folder.settingsFile);
  const code = listSkillFolders({
    extra: skills.extra.map((path) => resolve(base, path.replace(/^~(?=\/|$)/, homedir()))),
    bundled: '',
    data: folder.path,
    home: homedir(),
    project: process.cwd(),
    workspace: agent.workspace,
  }).filter(({ source }) => source !== 'bundled' && source !== 'workspace');
  return [
    ...fact(folder.path, 'data'),
    ...inData.flat(),
    ...inSecrets,
    ...(isOutside ? fact(folder.settingsFile, 'settings') : []),
    ...fact(agent.workspace, 'workspace'),
    ...code.flatMap(({ root, within }) => listTree(join(root, ...within), 'skills', fact)),
    ...plugins.flatMap(({ folder: path }) => (path === null ? [] : listTree(path, 'plugin', fact))),
  ];
}

type ReadFileFact = (path: string, kind: FileFact['kind']) => readonly FileFact[];

/**
 * Symbolic links are skipped: their modes are meaningless, and Parley does not manage their
 * targets.
 */
function createFileFactReader(gid: number | null): ReadFileFact {
  return (path, kind) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    // Windows has no Unix file modes.
    if (stat === undefined || stat.isSymbolicLink() || gid === null) return [];
    const isOwnGroup = stat.gid === gid;
    return [{ path, kind, mode: stat.mode & 0o777, uid: stat.uid, isOwnGroup }];
  };
}

function getFileKind({ path: data, settingsFile, tokenFile }: DataFolder, path: string) {
  const name = relative(data, path);
  if (path === settingsFile || name === 'profiles') return 'settings';
  if (path === tokenFile || name === 'secrets') return 'token';
  if (/^parley\.db(-wal|-shm|-journal|-files)?$/.test(name) || name === 'lock') return 'database';
  if (name.startsWith('before-restore-') || /\.(tar\.gz|tgz)$/.test(name)) return 'backup';
  // Other folders that contain code have separate checks.
  return name === 'skills' ? 'skills' : 'other';
}

/**
 * The maximum number of files to examine in skill and plugin folders. Packages that npm installed
 * in these folders are skipped.
 */
const MAX_FILES = 2_000;

function listTree(folder: string, kind: FileFact['kind'], fact: ReadFileFact): readonly FileFact[] {
  const found: FileFact[] = [];
  const folders = [folder];
  for (let at = folders.shift(); at !== undefined; at = folders.shift()) {
    found.push(...fact(at, kind));
    for (const name of listEntries(at)) {
      if (name === 'node_modules' || name === '.git' || found.length >= MAX_FILES) continue;
      const path = join(at, name);
      const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
      if (isFolder) folders.push(path);
      else found.push(...fact(path, kind));
    }
  }
  return found;
}

function listEntries(folder: string): readonly string[] {
  try {
    return statSync(folder).isDirectory() ? readdirSync(folder).toSorted() : [];
  } catch {
    return []; // The file is missing or this user cannot read it, so Parley does not read it either.
  }
}
