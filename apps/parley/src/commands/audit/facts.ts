import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { lstat, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { agentOfConversation, reasonOf } from '@parley/core';
import type { AuditSeverity } from '@parley/gateway/api';
import { clearSecretsIn } from '@parley/settings';
import type { Store } from '@parley/store';
import {
  encodingDoubt,
  isGroupFile,
  isMemory,
  readInside,
  type SurveyedEntry,
  skillFolders,
  surveyFolder,
  textOfFile,
} from '@parley/workspace';
import { z } from 'zod';
import type { DataFolder } from '../../data-folder.ts';
import { allAgents, type ChosenAgent, type LoadedSettings } from '../../settings.ts';
import { readMcpChanges } from './mcp-accepted.ts';

export interface FileFact {
  readonly path: string;
  readonly kind:
    | ('data' | 'settings' | 'token' | 'database' | 'backup' | 'workspace' | 'other')
    // What is run or followed: others may read it, and must not change it.
    | ('skills' | 'plugin');
  readonly mode: number;
  readonly uid: number;
  /** Its group is that of the person who runs Parley, as where each user has one. */
  readonly isOwnGroup: boolean;
}

/** Everything the checks look at; they touch nothing else. Secrets and tokens are never shown. */
export type AuditFacts = Awaited<ReturnType<typeof gatherFacts>>;

type Sandbox =
  | { readonly kind: 'not-tried' | 'works' }
  | { readonly kind: 'fails'; readonly reason: string };

/** One check of `parley audit` (U05). Ids never change: people and scripts refer to them. */
export interface Check {
  readonly id: string;
  readonly severity: AuditSeverity;
  readonly holds: string;
  readonly remedy: string;
  /** One sentence for each violation; never a secret itself. */
  readonly find: (facts: AuditFacts) => readonly (string | Graded)[];
}

/** A violation whose severity differs from that of its check. */
export interface Graded {
  readonly found: string;
  readonly severity: AuditSeverity;
}

interface GatherDeps {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly loaded: LoadedSettings;
  readonly store: Pick<Store, 'audit' | 'signIns'> | null;
  /** `agent`: undefined: the default one. */
  readonly isPromptFile: (path: string, agent: string | undefined) => boolean;
  readonly now: number;
}

const WRITES = ['write', 'edit'] as const;
const RECENT_MS = 30 * 24 * 60 * 60_000;

export async function gatherFacts(deps: GatherDeps) {
  const { folder, env, loaded, store, isPromptFile, now } = deps;
  const { settings, channels, secrets, warnings } = loaded;
  const plugins = settings.plugins.map(({ use }) => ({ use, folder: pluginFolder(use, folder) }));
  const [allowedPeople, linked, signIns, writes, sandbox] = await Promise.all([
    store?.audit.allowedPeople() ?? [],
    store?.audit.linked() ?? [],
    store?.signIns.list() ?? [],
    store?.audit.writes(WRITES, now - RECENT_MS) ?? [],
    settings.exec.enabled ? trySandbox() : ({ kind: 'not-tried' } satisfies Sandbox),
  ]);
  const workspaceOf = async ({ name, settings: { agent } }: ChosenAgent) => {
    const found = await gatherWorkspace(agent.workspace, now);
    const promptWrites = writes.flatMap(({ input, ...write }) => {
      const path = pathIn(input);
      const isOwn = agentOfConversation(write.conversationId) === name;
      return isOwn && path !== null && isPromptFile(path, name) ? [{ ...write, path }] : [];
    });
    /** `promptWrites`: changes of an agent to files that become prompt text, newest first. */
    return { ...found, promptWrites };
  };
  const [main, ...named] = allAgents(loaded);
  const others = named.map(async (one) => {
    const { name, settings: own } = one;
    return { name: name ?? '', settings: own, workspace: await workspaceOf(one) };
  });
  const unread = warnings.flatMap(({ path }) => /^channels\.([\w-]+)$/.exec(path)?.[1] ?? []);
  const served = Object.values(channels).flatMap((one) =>
    one.kind === 'disabled' ? [] : [one.channel],
  );
  const api = Object.keys(settings.api.clients).length > 0 ? ['api'] : [];
  return {
    now,
    /** Null where files have no owners. */
    uid: process.getuid?.() ?? null,
    dataFolder: folder.path,
    files: [
      ...filesOf(folder, settings, plugins),
      ...named.flatMap((one) => factHere()(one.settings.agent.workspace, 'workspace')),
    ],
    settings,
    channels,
    /** Configured, also those that only a plugin knows. */
    knownChannels: [...new Set([...served, ...unread, ...api])],
    secrets: secrets.filter((secret) => secret.length >= 8),
    clearSecrets: clearSecretsIn(folder.settingsFile),
    /** Of the web page; null before the first start. */
    token: settings.http.token ?? tokenIn(folder),
    webhooks: webhooksOf(channels),
    postgresPassword: env.PGPASSWORD !== undefined || env.PGPASSFILE !== undefined,
    plugins,
    sandbox,
    mcpChanges: readMcpChanges(folder).filter(({ server }) => Object.hasOwn(settings.mcp, server)),
    allowedPeople,
    linked,
    signIns,
    workspace: await workspaceOf(main ?? { name: undefined, settings }),
    /** Agents besides the default one, with what differs from it (F14). */
    others: await Promise.all(others),
  };
}

const Input = z.object({ path: z.string() });

/** The path of a call of a file tool in a journal, as files of the workspace are named; null: it has none. */
export function pathOfCall(input: string, workspace: string): string | null {
  const path = pathIn(input);
  if (path?.startsWith(`${workspace}/`)) return path.slice(workspace.length + 1);
  return path?.replace(/^(\.\/)+/, '') ?? null;
}

function pathIn(input: string): string | null {
  try {
    return Input.safeParse(JSON.parse(input)).data?.path ?? null;
  } catch {
    return null; // The model wrote no JSON; such a call was never run.
  }
}

const Webhook = z.object({ webhook: z.object({ secret: z.string().default('') }) });

function webhooksOf(channels: LoadedSettings['channels']) {
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
  plugins: readonly { readonly folder: string | null }[],
): readonly FileFact[] {
  const fact = factHere();
  const inData = entriesOf(folder.path).map((name) => {
    const path = join(folder.path, name);
    // The schema is the same for everybody and holds nothing private.
    const isElsewhere = path === agent.workspace || name === 'parley.schema.json';
    return isElsewhere ? [] : fact(path, kindIn(folder, path));
  });
  const secrets = join(folder.path, 'secrets');
  const inSecrets = entriesOf(secrets).flatMap((name) => fact(join(secrets, name), 'token'));
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
    ...inSecrets,
    ...(isOutside ? fact(folder.settingsFile, 'settings') : []),
    ...fact(agent.workspace, 'workspace'),
    ...code.flatMap(({ root, within }) => treeOf(join(root, ...within), 'skills', fact)),
    ...plugins.flatMap(({ folder: path }) => (path === null ? [] : treeOf(path, 'plugin', fact))),
  ];
}

type Fact = (path: string, kind: FileFact['kind']) => readonly FileFact[];

const factHere = (): Fact => factOf(process.getgid?.() ?? null);

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
  if (path === tokenFile || name === 'secrets') return 'token';
  if (/^parley\.db(-wal|-shm|-journal|-files)?$/.test(name) || name === 'lock') return 'database';
  if (name.startsWith('before-restore-') || /\.(tar\.gz|tgz)$/.test(name)) return 'backup';
  // Folders of code have checks of their own.
  return name === 'skills' ? 'skills' : 'other';
}

/** Enough for folders of skills and plugins; what npm installed below them is not walked. */
const MAX_FILES = 2_000;

function treeOf(folder: string, kind: FileFact['kind'], fact: Fact): readonly FileFact[] {
  const found: FileFact[] = [];
  const folders = [folder];
  for (let at = folders.shift(); at !== undefined; at = folders.shift()) {
    found.push(...fact(at, kind));
    for (const name of entriesOf(at)) {
      if (name === 'node_modules' || name === '.git' || found.length >= MAX_FILES) continue;
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
    return []; // Missing or unreadable for this user: then Parley does not read it either.
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
export async function trySandbox(): Promise<Sandbox> {
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

export interface OpenFile {
  readonly name: string;
  readonly text: string;
}

/** Notes are small; what is larger is no note and is not read here. In bytes. */
const LARGEST = 256_000;
const MAX_NOTES = 1_000;

async function gatherWorkspace(folder: string, now: number) {
  const survey = await surveyFolder(folder, () => now).catch(() => null);
  const entries = survey?.entries ?? [];
  const openFiles: OpenFile[] = [];
  const memory: string[] = [];
  const symlinks: string[] = [];
  const hardlinks: string[] = [];
  const encodings: string[] = [];
  let read = 0;
  for (const entry of entries) {
    const stat = await lstat(join(folder, entry.name)).catch(() => null);
    if (stat?.isSymbolicLink()) symlinks.push(entry.name);
    const hasTwin = stat?.isFile() === true && stat.nlink > 1;
    if (hasTwin) hardlinks.push(entry.name);
    const doubt = encodingDoubt(entry);
    if (doubt !== null) encodings.push(`${entry.name}: ${doubt}`);
    const place = placeOf(entry);
    // Such a file may be MEMORY.md by another name, so only owners are shown it.
    const isPrivate = place === 'private' || (place === 'open' && hasTwin);
    if (isPrivate || entry.bytes > LARGEST || read >= MAX_NOTES) continue;
    read += 1;
    const text = await textOf(survey?.folder ?? folder, entry.name);
    if (place === 'memory') memory.push(text);
    else openFiles.push({ name: entry.name, text });
  }
  const isCut = (survey?.isCut ?? false) || read >= MAX_NOTES;
  /**
   * `memory`: the texts of MEMORY.md and memory/. `encodings`: files that were not decoded without doubt. `isCut`: there
   * is more than was read.
   */
  return { openFiles, memory, symlinks, hardlinks, encodings, isCut };
}

/** Files of groups/ are shown to one conversation each. */
function placeOf({ name, content }: SurveyedEntry): 'memory' | 'open' | 'private' {
  if (isMemory(name)) return 'memory';
  if (isGroupFile(name)) return 'private';
  if (content.kind === 'markdown') return content.audience === 'everyone' ? 'open' : 'private';
  return content.kind === 'other' ? 'open' : 'private';
}

async function textOf(folder: string, name: string): Promise<string> {
  try {
    const bytes = await readInside(folder, name.split('/'));
    const read = textOfFile(bytes);
    return read.kind === 'text' ? read.text : '';
  } catch {
    return '';
  }
}
