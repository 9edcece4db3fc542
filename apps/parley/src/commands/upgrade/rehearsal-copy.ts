import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { decodeText } from '@parley/core';
import { isBlock } from '@parley/settings';
import { type DataFolder, locateDataFolder } from '../../data-folder.ts';
import { checkBackup } from '../backup/contents.ts';
import { restoreBackup } from '../backup/restore-backup.ts';
import { MODEL_NAME } from './rehearsal-model.ts';

/** The addresses on this machine that replace the platforms and the model. */
export interface RehearsalAddresses {
  readonly telegram: { readonly token: string; readonly apiRoot: string };
  readonly modelUrl: string;
}

/** The owner who writes the rehearsal's own messages; no real account has this id. */
export const REHEARSAL_OWNER = 990_001;

/**
 * The settings that a rehearsal takes from the installation. Everything else would connect it to
 * something outside (models, channels, MCP servers, hooks, plugins, servers) or is irrelevant.
 */
const KEPT = ['version', 'identity', 'agent', 'skills', 'soul', 'inspector', 'tools', 'approvals'];

/**
 * Creates the settings of a rehearsal. Only the named sections are taken over, and of those only
 * values that contain no reference to a variable or a file, so no secret can be among them.
 */
export function createRehearsalSettings(
  written: Readonly<Record<string, unknown>>,
  workspace: string,
  { telegram, modelUrl }: RehearsalAddresses,
  owners: readonly string[],
): Readonly<Record<string, unknown>> {
  const kept = Object.fromEntries(
    KEPT.flatMap((name) => (name in written ? [[name, dropReferences(written[name])]] : [])),
  );
  const agent = isBlock(kept.agent) ? kept.agent : {};
  return {
    ...kept,
    agent: { ...agent, workspace },
    model: {
      provider: 'openai-compatible',
      ...{ baseUrl: modelUrl, model: MODEL_NAME, contextTokens: 128_000 },
    },
    owners: [`telegram:${REHEARSAL_OWNER}`, ...owners.filter((one) => /^telegram:\d+$/.test(one))],
    lanes: { collectPauseMs: 0 },
    http: { port: 0 },
    log: { level: 'info', format: 'json' },
    channels: {
      telegram: {
        ...telegram,
        ...{ pace: false, activation: 'always', access: { direct: 'open', groups: 'open' } },
      },
    },
  };
}

function dropReferences(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('${') ? undefined : value;
  if (Array.isArray(value)) return value.map(dropReferences).filter((entry) => entry !== undefined);
  if (!isBlock(value)) return value;
  const entries = Object.entries(value).map(
    ([key, entry]) => [key, dropReferences(entry)] as const,
  );
  return Object.fromEntries(entries.filter(([, entry]) => entry !== undefined));
}

/** Restores a backup into an empty folder; nothing of the installation itself is read or written. */
export async function restoreCopy(
  file: string,
  path: string,
  clock: () => number,
): Promise<DataFolder> {
  const folder = locateDataFolder(path, {});
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // The settings of the backup stay out of the copy, because they may contain secrets.
  writeFileSync(folder.settingsFile, JSON.stringify({ model: 'offline' }), { mode: 0o600 });
  await restoreBackup({
    ...{ backup: await checkBackup(file), folder, clock },
    ...{ env: {}, unfinished: 'go-on', withSettings: false },
  });
  return folder;
}

/** The private files of the workspace that an owner's prompt shows. */
const PRIVATE_FILES = ['USER.md', 'MEMORY.md'];

/** Adds a text to the owner's private files, which must never reach the prompt of anyone else. */
export function plantCanary({ workspace }: DataFolder, canary: string): void {
  mkdirSync(workspace, { recursive: true, mode: 0o700 });
  for (const [nth, name] of PRIVATE_FILES.entries())
    appendFileSync(join(workspace, name), `\n\n- A private note: ${canary}-${nth}\n`, {
      mode: 0o600,
    });
}

/** The settings as the installation has them, without any secret. */
export interface CheckedSettings {
  readonly file: string;
  /** The variables that the settings name. */
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Writes the installation's settings into the copy, so that both releases can check them. Secrets
 * keep only their form (letters, digits, punctuation), because the checks depend on it.
 */
export function writeCheckedSettings(
  settingsFile: string,
  { secrets, env }: { readonly secrets: readonly string[]; readonly env: NodeJS.ProcessEnv },
  copy: string,
): CheckedSettings {
  const file = join(copy, 'checked.yaml');
  const text = existsSync(settingsFile) ? decodeText(readFileSync(settingsFile)).text : '';
  let files = 0;
  const hidden = secrets
    .toSorted((a, b) => b.length - a.length)
    .reduce((all, secret) => all.replaceAll(secret, hideText(secret)), text)
    .replaceAll(/\$\{file:([^}]*)\}/g, (_all, name: string) => {
      files += 1;
      const path = join(copy, `value-${files}`);
      writeFileSync(path, hideText(readValue(name, settingsFile)), { mode: 0o600 });
      return `\${file:${path}}`;
    });
  writeFileSync(file, hidden, { mode: 0o600 });
  const names = [...text.matchAll(/\$\{([A-Za-z_]\w*)/g)].map(([, name = '']) => name);
  const values = names.flatMap((name) =>
    env[name] === undefined ? [] : [[name, hideText(env[name])] as const],
  );
  return { file, env: Object.fromEntries(values) };
}

function readValue(name: string, settingsFile: string): string {
  const path = resolve(dirname(settingsFile), name.replace(/^~/, homedir()));
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function hideText(text: string): string {
  return text
    .replaceAll(/\p{Lu}/gu, 'X')
    .replaceAll(/\p{Ll}/gu, 'x')
    .replaceAll(/\d/g, '0');
}

/** Gives a copy that root has made to the user as whom the rehearsed release runs. */
export function giveFolder(path: string, owner: { uid: number; gid: number } | undefined): void {
  if (owner === undefined) return;
  chownSync(path, owner.uid, owner.gid);
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true }))
    if (!entry.isSymbolicLink())
      chownSync(join(entry.parentPath, entry.name), owner.uid, owner.gid);
}
