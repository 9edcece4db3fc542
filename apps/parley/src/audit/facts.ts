import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { lstat, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { reasonOf } from '@parley/contracts';
import type { AuditSeverity } from '@parley/gateway/api';
import { clearSecretsIn } from '@parley/settings';
import type { JournalledWrite, KnownPerson, Store } from '@parley/store';
import { readInside, type SurveyedEntry, skillFolders, surveyFolder } from '@parley/workspace';
import { z } from 'zod';
import type { DataFolder } from '../data-folder.ts';
import type { LoadedSettings } from '../settings.ts';
import { type McpChange, readMcpChanges } from './mcp-accepted.ts';

/** A file or folder whose rights matter. */
export interface FileFact {
  readonly path: string;
  readonly kind:
    | ('data' | 'settings' | 'token' | 'database' | 'backup' | 'workspace' | 'other')
    // What is run or followed: others may read it, and must not change it.
    | ('skills' | 'plugin');
  /** The nine bits. */
  readonly mode: number;
  readonly uid: number;
  /** Its group is that of the person who runs Parley, as where each user has one. */
  readonly isOwnGroup: boolean;
}

/** Everything the checks look at; they touch nothing else. */
export interface AuditFacts {
  readonly now: number;
  /** Null where files have no owners. */
  readonly uid: number | null;
  readonly dataFolder: string;
  readonly files: readonly FileFact[];
  readonly settings: LoadedSettings['settings'];
  readonly channels: LoadedSettings['channels'];
  /** Configured, also those that only a plugin knows. */
  readonly knownChannels: readonly string[];
  /** Of the settings, by value. Never shown. */
  readonly secrets: readonly string[];
  /** Where secrets stand in the settings in clear. */
  readonly clearSecrets: readonly string[];
  /** Of the web page; null before the first start. Never shown. */
  readonly token: string | null;
  readonly webhooks: readonly { readonly name: string; readonly secretLength: number }[];
  /** The environment has a password for PostgreSQL. */
  readonly postgresPassword: boolean;
  /** `folder` null: an installed package. */
  readonly plugins: readonly { readonly use: string; readonly folder: string | null }[];
  readonly sandbox:
    | { readonly kind: 'not-tried' | 'works' }
    | { readonly kind: 'fails'; readonly reason: string };
  readonly mcpChanges: readonly McpChange[];
  readonly letIn: readonly KnownPerson[];
  readonly linked: readonly KnownPerson[];
  readonly workspace: WorkspaceFacts;
}

/** One check of `parley audit` (U05). Ids never change: people and scripts refer to them. */
export interface Check {
  readonly id: string;
  readonly severity: AuditSeverity;
  /** What must hold, for docs/audit.md. */
  readonly holds: string;
  /** What to do where it does not. */
  readonly remedy: string;
  /** One sentence for each violation; never a secret itself. */
  readonly find: (facts: AuditFacts) => readonly (string | Graded)[];
}

/** A violation whose severity differs from that of its check. */
export interface Graded {
  readonly found: string;
  readonly severity: AuditSeverity;
}

/** What gathering needs; `store` null: there is no database yet. */
interface GatherDeps {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly loaded: LoadedSettings;
  readonly store: Pick<Store, 'audit'> | null;
  /** Which workspace files become prompt text. */
  readonly isPromptFile: (path: string) => boolean;
  readonly now: number;
}

const WRITES = ['write', 'edit'] as const;
const RECENT_MS = 30 * 24 * 60 * 60_000;

/** Looks at an installation and changes nothing in it. */
export async function gatherFacts(deps: GatherDeps): Promise<AuditFacts> {
  const { folder, env, loaded, store, now } = deps;
  const { settings, channels, secrets, warnings } = loaded;
  const plugins = settings.plugins.map(({ use }) => ({ use, folder: pluginFolder(use, folder) }));
  const [letIn, linked, writes, sandbox] = await Promise.all([
    store?.audit.letIn() ?? [],
    store?.audit.linked() ?? [],
    store?.audit.writes(WRITES, now - RECENT_MS) ?? [],
    settings.exec.enabled ? trySandbox() : { kind: 'not-tried' as const },
  ]);
  const workspace = await gatherWorkspace(settings.agent.workspace, {
    promptWrites: promptWritesOf(writes, deps),
    now,
  });
  const unread = warnings.flatMap(({ path }) => /^channels\.([\w-]+)$/.exec(path)?.[1] ?? []);
  const served = Object.values(channels).flatMap((one) =>
    one.kind === 'disabled' ? [] : [one.channel],
  );
  return {
    now,
    uid: process.getuid?.() ?? null,
    dataFolder: folder.path,
    files: filesOf(folder, settings, plugins),
    settings,
    channels,
    knownChannels: [...new Set([...served, ...unread])],
    secrets: secrets.filter((secret) => secret.length >= 8),
    clearSecrets: clearSecretsIn(folder.settingsFile),
    token: settings.http.token ?? tokenIn(folder),
    webhooks: webhooksOf(channels),
    postgresPassword: env.PGPASSWORD !== undefined || env.PGPASSFILE !== undefined,
    plugins,
    sandbox,
    mcpChanges: readMcpChanges(folder).filter(({ server }) => Object.hasOwn(settings.mcp, server)),
    letIn,
    linked,
    workspace,
  };
}

function promptWritesOf(
  writes: readonly JournalledWrite[],
  { isPromptFile }: Pick<GatherDeps, 'isPromptFile'>,
): WorkspaceFacts['promptWrites'] {
  return writes.flatMap(({ input, ...write }) => {
    const path = pathIn(input);
    return path !== null && isPromptFile(path) ? [{ ...write, path }] : [];
  });
}

const Input = z.object({ path: z.string() });

function pathIn(input: string): string | null {
  try {
    return Input.safeParse(JSON.parse(input)).data?.path ?? null;
  } catch {
    return null; // The model wrote no JSON; such a call was never run.
  }
}

const Webhook = z.object({ webhook: z.object({ secret: z.string().default('') }) });

function webhooksOf(channels: LoadedSettings['channels']): AuditFacts['webhooks'] {
  return Object.values(channels).flatMap((one) => {
    const parsed = one.kind === 'ok' ? Webhook.safeParse(one.settings).data : undefined;
    if (parsed === undefined) return [];
    const { length } = parsed.webhook.secret;
    return [{ name: `${one.channel}/${one.account}`, secretLength: length }];
  });
}

function tokenIn({ tokenFile }: DataFolder): string | null {
  try {
    return readFileSync(tokenFile, 'utf8').trim();
  } catch {
    return null; // It is made at the first start.
  }
}

/** As plugins are found: a path is seen from the settings file, anything else is a package. */
function pluginFolder(use: string, { settingsFile }: DataFolder): string | null {
  if (!/^(\.{1,2}(\/|$)|\/|~)/.test(use)) return null;
  const folder = resolve(dirname(settingsFile), use.replace(/^~(?=\/|$)/, homedir()));
  return realOf(folder) ?? folder;
}

function filesOf(
  folder: DataFolder,
  { agent, skills }: LoadedSettings['settings'],
  plugins: AuditFacts['plugins'],
): readonly FileFact[] {
  const fact = factOf(process.getgid?.() ?? null);
  const inData = entriesOf(folder.path).map((name) => {
    const path = join(folder.path, name);
    // The schema is the same for everybody and holds nothing private.
    const isElsewhere = path === agent.workspace || name === 'parley.schema.json';
    return isElsewhere ? [] : fact(path, kindIn(folder, path));
  });
  const isOutside = relative(folder.path, folder.settingsFile).startsWith('..');
  const base = dirname(folder.settingsFile);
  const code = skillFolders({
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
    ...(isOutside ? fact(folder.settingsFile, 'settings') : []),
    ...fact(agent.workspace, 'workspace'),
    ...code.flatMap(({ root, within }) => treeOf(join(root, ...within), 'skills', fact)),
    ...plugins.flatMap(({ folder: path }) => (path === null ? [] : treeOf(path, 'plugin', fact))),
  ];
}

type Fact = (path: string, kind: FileFact['kind']) => readonly FileFact[];

/** Links are left alone: their rights mean nothing, and what they lead to is not ours to judge. */
function factOf(gid: number | null): Fact {
  return (path, kind) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    // Windows has no such rights.
    if (stat === undefined || stat.isSymbolicLink() || gid === null) return [];
    const isOwnGroup = stat.gid === gid;
    return [{ path, kind, mode: stat.mode & 0o777, uid: stat.uid, isOwnGroup }];
  };
}

function kindIn({ path: data, settingsFile, tokenFile }: DataFolder, path: string) {
  const name = relative(data, path);
  if (path === settingsFile || name === 'profiles') return 'settings';
  if (path === tokenFile) return 'token';
  if (/^parley\.db(-wal|-shm|-journal)?$/.test(name) || name === 'lock') return 'database';
  if (name.startsWith('before-restore-') || /\.(tar\.gz|tgz)$/.test(name)) return 'backup';
  // Folders of code have checks of their own.
  return name === 'skills' ? 'skills' : 'other';
}

/** Enough for folders of skills and plugins; what npm installed below them is not walked. */
const MOST_FILES = 2_000;

function treeOf(folder: string, kind: FileFact['kind'], fact: Fact): readonly FileFact[] {
  const found: FileFact[] = [];
  const folders = [folder];
  for (let at = folders.shift(); at !== undefined; at = folders.shift()) {
    found.push(...fact(at, kind));
    for (const name of entriesOf(at)) {
      if (name === 'node_modules' || name === '.git' || found.length >= MOST_FILES) continue;
      const path = join(at, name);
      const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
      if (isFolder) folders.push(path);
      else found.push(...fact(path, kind));
    }
  }
  return found;
}

function entriesOf(folder: string): readonly string[] {
  try {
    return statSync(folder).isDirectory() ? readdirSync(folder).toSorted() : [];
  } catch {
    return []; // Not there, or not ours to read: then nobody here reads it either.
  }
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

const TRIED_WITHIN_MS = 5_000;

/** Runs a command that does nothing, in a folder of its own. */
async function trySandbox(): Promise<AuditFacts['sandbox']> {
  const { openSandbox } = await import('@parley/tools/sandbox');
  const workspace = await mkdtemp(join(tmpdir(), 'parley-audit-'));
  try {
    const signal = AbortSignal.timeout(TRIED_WITHIN_MS);
    const { exitCode } = await openSandbox({ workspace, forbidden: [] }).run('true', { signal });
    if (exitCode === 0) return { kind: 'works' };
    return { kind: 'fails', reason: 'A command that does nothing failed in the sandbox.' };
  } catch (error) {
    return { kind: 'fails', reason: reasonOf(error) };
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

/** A file that everybody's turns can read. */
export interface OpenFile {
  /** Path inside the workspace. */
  readonly name: string;
  readonly text: string;
}

/** What the audit knows of the workspace. */
interface WorkspaceFacts {
  readonly openFiles: readonly OpenFile[];
  /** The texts of MEMORY.md and memory/. */
  readonly memory: readonly string[];
  readonly symlinks: readonly string[];
  readonly hardlinks: readonly string[];
  /** Changes that an agent made to files that become prompt text, newest first. */
  readonly promptWrites: readonly (Omit<JournalledWrite, 'input'> & { readonly path: string })[];
  /** There is more than was read. */
  readonly isCut: boolean;
}

/** Notes are small; what is larger is no note and is not read here. In bytes. */
const LARGEST = 256_000;
const MOST_NOTES = 1_000;

/** Reads the workspace; a folder that is not there has nothing. */
async function gatherWorkspace(
  folder: string,
  { promptWrites, now }: { readonly now: number } & Pick<WorkspaceFacts, 'promptWrites'>,
): Promise<WorkspaceFacts> {
  const survey = await surveyFolder(folder, () => now).catch(() => null);
  const entries = survey?.entries ?? [];
  const openFiles: OpenFile[] = [];
  const memory: string[] = [];
  const symlinks: string[] = [];
  const hardlinks: string[] = [];
  let read = 0;
  for (const entry of entries) {
    const stat = await lstat(join(folder, entry.name)).catch(() => null);
    if (stat?.isSymbolicLink()) symlinks.push(entry.name);
    const hasTwin = stat?.isFile() === true && stat.nlink > 1;
    if (hasTwin) hardlinks.push(entry.name);
    const place = placeOf(entry);
    // Such a file may be MEMORY.md by another name, so only owners are shown it.
    const isPrivate = place === 'private' || (place === 'open' && hasTwin);
    if (isPrivate || entry.bytes > LARGEST || read >= MOST_NOTES) continue;
    read += 1;
    const text = await textOf(survey?.folder ?? folder, entry.name);
    if (place === 'memory') memory.push(text);
    else openFiles.push({ name: entry.name, text });
  }
  const isCut = (survey?.isCut ?? false) || read >= MOST_NOTES;
  return { openFiles, memory, symlinks, hardlinks, promptWrites, isCut };
}

/** Files of groups/ are shown to one conversation each, and to nobody else. */
function placeOf({ name, content }: SurveyedEntry): 'memory' | 'open' | 'private' {
  if (/^(memory\/.*|memory\.md)$/i.test(name)) return 'memory';
  if (/^groups\//i.test(name)) return 'private';
  if (content.kind === 'markdown') return content.audience === 'everyone' ? 'open' : 'private';
  return content.kind === 'other' ? 'open' : 'private';
}

/** Empty for what is no text, or went away meanwhile. */
async function textOf(folder: string, name: string): Promise<string> {
  try {
    const bytes = await readInside(folder, name.split('/'));
    return bytes.includes(0) ? '' : new TextDecoder().decode(bytes);
  } catch {
    return '';
  }
}
