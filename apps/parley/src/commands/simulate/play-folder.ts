import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { decodeText } from '@parley/core';
import { isBlock } from '@parley/settings';
import { parseSettings } from '@parley/settings/upgrade';
import type { Platform, Simulator } from '@parley/simulators';
import { type DataFolder, locateDataFolder } from '../../data-folder.ts';
import { readSettings } from '../../settings.ts';

/** A temporary data folder for one simulation. The user's own data folder is never changed. */
export interface PlayFolder {
  readonly folder: DataFolder;
  remove(): void;
}

export interface PlayOptions {
  /** Whether to use the user's own workspace instead of a copy. */
  readonly ownWorkspace: boolean;
  /** Whether to use the built-in model instead of the model in the settings. */
  readonly isOffline?: boolean;
}

type SimulatedInstallation = Pick<Simulator, 'platform' | 'settings' | 'owner' | 'firstGroup'>;
type SettingsBlock = Readonly<Record<string, unknown>>;

/** Subfolders that the settings and the agent read. */
const READ_THERE = ['profiles', 'skills'];
/**
 * Settings that are omitted because they would connect the simulation to external services or real
 * conversations.
 */
const LEFT_OUT = ['store', 'queue', 'telemetry', 'http', 'owners', 'channels', 'agent'];
/**
 * The account settings that control access and answers; the omitted ones concern the connection.
 */
const RULES = ['access', 'activation', 'answers', 'whenUncertain', 'linkPreviews', 'pace'];

/**
 * Creates a data folder with the user's own settings, in which the simulated account replaces all
 * channels and the user is the owner. Throws the same CliErrors as `readSettings`.
 */
export function createPlayFolder(
  installation: { readonly folder: DataFolder; readonly env: NodeJS.ProcessEnv },
  simulator: SimulatedInstallation,
  { ownWorkspace, isOffline = false }: PlayOptions,
): PlayFolder {
  const { folder, env } = installation;
  // The original file is read, so problems are reported for the file that the user edits.
  const { settings } = readSettings(folder, env);
  const { workspace } = settings.agent;
  const play = locateDataFolder(mkdtempSync(join(tmpdir(), 'parley-simulate-')), env);
  for (const name of READ_THERE) copyPath(join(folder.path, name), join(play.path, name));
  if (!ownWorkspace) copyPath(workspace, play.workspace);
  const written = createSimulatedSettings(readRawSettings(folder.settingsFile), {
    base: dirname(folder.settingsFile),
    workspace: ownWorkspace ? workspace : play.workspace,
    simulator,
    isOffline,
  });
  writeFileSync(play.settingsFile, JSON.stringify(written, null, 2), { mode: 0o600 });
  return {
    folder: play,
    remove: () => rmSync(play.path, { recursive: true, force: true }),
  };
}

function copyPath(from: string, to: string): void {
  if (existsSync(from)) cpSync(from, to, { recursive: true });
}

/**
 * Reads the settings exactly as written, without resolving references to variables and files; the
 * file was checked before.
 */
export function readRawSettings(file: string): SettingsBlock {
  const document = existsSync(file)
    ? parseSettings(decodeText(readFileSync(file)).text)
    : undefined;
  return document === undefined || document.kind === 'broken' ? {} : toBlock(document.value);
}

/** Returns the settings for a simulation. Relative paths are resolved against `base`. */
export function createSimulatedSettings(
  written: SettingsBlock,
  {
    base,
    workspace,
    simulator,
    isOffline = false,
  }: {
    readonly base: string;
    readonly workspace: string;
    readonly simulator: SimulatedInstallation;
    readonly isOffline?: boolean;
  },
): SettingsBlock {
  const kept = Object.fromEntries(Object.entries(written).filter(([k]) => !LEFT_OUT.includes(k)));
  const { platform, settings, owner, firstGroup } = simulator;
  const rules = copyAccountRules(toBlock(written.channels), platform);
  const access = toBlock(rules.access);
  const allowGroups = [...toList(access.allowGroups), firstGroup];
  const elsewhere = {
    ...makePathsAbsolute(kept, base),
    agent: { ...toBlock(makePathsAbsolute(written.agent, base)), workspace },
  };
  return {
    ...elsewhere,
    ...(isOffline && { model: 'offline' }),
    owners: [owner],
    http: { port: 0 },
    channels: { [platform]: { ...rules, ...settings, access: { ...access, allowGroups } } },
  };
}

/** Returns the rules of the first account on that platform, if there is one. */
function copyAccountRules(channels: SettingsBlock, platform: Platform): SettingsBlock {
  const section = toBlock(channels[platform]);
  const [first = section] = Object.values(toBlock(section.accounts));
  return Object.fromEntries(Object.entries(toBlock(first)).filter(([key]) => RULES.includes(key)));
}

const PATHS = new Set(['plugins', 'extra']);

function makePathsAbsolute(value: unknown, base: string, isPath = false): SettingsBlock {
  const walk = (one: unknown, path: boolean): unknown => {
    if (typeof one === 'string')
      return path ? toAbsolutePath(one, base) : makeFileReferencesAbsolute(one, base);
    if (Array.isArray(one)) return one.map((item) => walk(item, path));
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(
      Object.entries(one).map(([key, item]) => [
        key,
        walk(item, PATHS.has(key) || (path && key === 'use')),
      ]),
    );
  };
  return toBlock(walk(value, isPath));
}

/** Resolves a folder, or the name of a package installed next to the settings file. */
function toAbsolutePath(path: string, base: string): string {
  if (path.startsWith('.')) return resolve(base, path);
  const installed = join(base, 'node_modules', path);
  return !path.startsWith('/') && existsSync(installed) ? installed : path;
}

/** Makes the path in `${file:name}` absolute. */
function makeFileReferencesAbsolute(text: string, base: string): string {
  return text.replaceAll(
    /\$\{file:(?![/~])([^}]+)\}/g,
    (_all, path: string) => `\${file:${resolve(base, path)}}`,
  );
}

function toBlock(value: unknown): SettingsBlock {
  return isBlock(value) ? { ...value } : {};
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
