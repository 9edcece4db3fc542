import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TimeUpError, withTimeLimit } from '@parley/agent';
import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import { findPlugin } from './find-plugin.ts';
import { guardedChannel, guardedSource } from './guard.ts';
import type { Plugin } from './plugin.ts';
import { PluginError, type PluginErrorCode } from './plugin-error.ts';
import type { Brought, PluginChoice } from './plugin-outcome.ts';
import { checkOptions, checkParts, pluginIn } from './plugin-shape.ts';

/** What opening a plugin needs. */
export interface OpenPluginDeps {
  /** The folder of the settings file. */
  readonly base: string;
  /** The agent's workspace, whose files the agent can write: no code is loaded from there. */
  readonly workspace: string;
  readonly log: Logger;
  readonly clock: Clock;
  /** Hears where the code lies before any of it runs. */
  readonly onFound: (place: { readonly use: string; readonly folder: string }) => void;
  /** How long importing and the setup may take, each. In ms. */
  readonly patienceMs: number;
}

/** A plugin whose code is there and that has not been set up. */
export interface ImportedPlugin {
  readonly plugin: Plugin;
  readonly folder: string;
}

/** Finds and imports a plugin. Throws PluginError. */
export async function importPlugin(
  { use }: PluginChoice,
  { base, workspace, onFound, patienceMs }: OpenPluginDeps,
): Promise<ImportedPlugin> {
  const { folder, entry } = await findPlugin(use, base);
  await refuseInside(workspace, [folder, entry]);
  onFound({ use, folder });
  const module = await attempt(
    'plugin-import',
    'it cannot be loaded',
    patienceMs,
    () => import(pathToFileURL(entry).href),
  );
  return { plugin: pluginIn(Object(module)), folder };
}

/** Sets a plugin up and says what it brings. Throws PluginError. */
export async function setUpPlugin(
  { plugin, folder }: ImportedPlugin,
  { options }: PluginChoice,
  { log, clock, patienceMs }: OpenPluginDeps,
): Promise<{ readonly brings: Brought; readonly left: readonly string[] }> {
  const checked = checkOptions(plugin, options);
  const named = log.child({ plugin: plugin.name });
  const given = await attempt('plugin-setup', 'its setup failed', patienceMs, (signal) =>
    plugin.setup(checked, { log: named, clock, folder, signal }),
  );
  const { tools = [], skills = [], layers = [], hooks = [], ...rest } = checkParts(given);
  const { channels = [], sources = [] } = rest;
  const folders = await Promise.all(skills.map((skill) => skillFolder(skill, folder)));
  const brings = {
    tools,
    skills: folders.flatMap(({ path, isThere }) => (isThere ? [path] : [])),
    layers,
    hooks,
    channels: channels.map((channel) => guardedChannel(channel)),
    sources: sources.map((source) => guardedSource(source)),
  };
  const left = folders.flatMap(({ path, isThere }) =>
    isThere ? [] : [`the skills in ${path}: there is no such folder`],
  );
  return { brings, left };
}

async function refuseInside(workspace: string, paths: readonly string[]): Promise<void> {
  // A workspace that is not there yet holds nothing.
  const real = await realpath(workspace).catch(() => resolve(workspace));
  if (!paths.some((path) => !/^\.\.(\/|$)/.test(relative(real, path)))) return;
  throw new PluginError(
    'plugin-place',
    `it lies in the workspace ${real}, where the agent itself can write. Move it elsewhere.`,
  );
}

/** Whatever goes wrong in a plugin's own code becomes a PluginError that says when it did. */
async function attempt<Result>(
  code: PluginErrorCode,
  what: string,
  ms: number,
  work: (signal: AbortSignal) => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await withTimeLimit({ ms }, async (signal) => work(signal));
  } catch (error) {
    const why = error instanceof TimeUpError ? 'plugin-late' : code;
    throw new PluginError(why, `${what}: ${reasonOf(error)}`, error);
  }
}

async function skillFolder(skill: string, folder: string) {
  const path = isAbsolute(skill) ? skill : resolve(folder, skill);
  try {
    return { path, isThere: (await stat(path)).isDirectory() };
  } catch {
    return { path, isThere: false }; // Whatever keeps it from being seen, its skills are not there.
  }
}
