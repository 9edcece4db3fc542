import { dirname } from 'node:path';
import { type AddedTools, createBuiltInTools } from '@parley/agent';
import { type ChannelDefinition, reportAdapterError } from '@parley/channels';
import { type Clock, type Logger, reasonOf, silentLogger, systemTime } from '@parley/core';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import type { PluginLine } from '@parley/gateway/api';
import type { LoadedParts } from '@parley/plugins';
import type { Layer, LayerRegistry, Layout } from '@parley/prompt';
import type { DataFolder } from './data-folder.ts';
import { type LoadedSettings, readSettings } from './settings.ts';

export interface AgentPlugins extends Pick<LoadedParts, 'skills' | 'hooks' | 'sources'> {
  readonly tools: readonly AddedTools[];
  readonly layers: readonly Layer[];
  /** Adds the plugins' layers to a layout. */
  readonly place: (layout: Layout, layerOf: LayerRegistry['get']) => Layout;
}

export const NO_PLUGINS: AgentPlugins = {
  tools: [],
  skills: [],
  layers: [],
  hooks: [],
  sources: [],
  place: (layout) => layout,
};

export interface LoadedPlugins {
  readonly loaded: LoadedSettings;
  readonly definitions: readonly ChannelDefinition[];
  readonly report: readonly PluginLine[];
  readonly agent: AgentPlugins;
}

export interface PlugInDeps {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly channels: readonly ChannelDefinition[];
  readonly log: Logger;
  readonly clock: Clock;
  /** Keeps unhandled errors in plugins from ending the process. */
  readonly containment?: ErrorContainment;
}

/**
 * Loads the plugins named in the settings, if any. The settings are first read without the plugins'
 * channels; if plugins define channels, the settings are checked again. Throws the same CliErrors
 * as `readSettings`, but never because of an error in a plugin.
 */
export async function loadConfiguredPlugins(
  first: LoadedSettings,
  deps: PlugInDeps,
): Promise<LoadedPlugins> {
  const { folder, env, channels, log, clock, containment } = deps;
  const { plugins } = first.settings;
  if (plugins.length === 0) {
    return { loaded: first, definitions: channels, report: [], agent: NO_PLUGINS };
  }
  const { combineParts, describeOutcome, guardLayer, loadPlugins, placeLayers } = await import(
    '@parley/plugins'
  );
  const taken = { tools: listToolNames(), channels: channels.map(({ id }) => id) };
  const base = dirname(folder.settingsFile);
  const { workspace } = first.settings.agent;
  const onFound = containment?.add ?? (() => {});
  const outcomes = await loadPlugins({ plugins, base, workspace, log, clock, taken, onFound });
  const parts = combineParts(outcomes);
  const definitions = [...channels, ...parts.channels];
  const loaded = parts.channels.length > 0 ? readSettings(folder, env, definitions) : first;
  const agent: AgentPlugins = {
    ...parts,
    tools: outcomes.flatMap((outcome) =>
      outcome.kind === 'loaded' ? [{ from: outcome.name, tools: outcome.parts.tools }] : [],
    ),
    layers: parts.layers.map((layer) => guardLayer(layer)),
    place: (layout, layerOf) => placeLayers(layout, parts.layers, layerOf),
  };
  // The report is rebuilt for each status request, because plugins can fail while they run.
  const report = outcomes.map((outcome) => ({
    get works() {
      if (outcome.kind === 'failed' || outcome.left.length > 0) return false;
      return outcome.defects.summary() === undefined;
    },
    get line() {
      return describeOutcome(outcome);
    },
  }));
  return { loaded, definitions, report, agent };
}

function listToolNames(): string[] {
  const read = () => Promise.reject(new Error('only the tool names are used here'));
  return createBuiltInTools({ skills: { read } }).map(({ name }) => name);
}

export interface PluginLocation {
  readonly use: string;
  readonly folder: string;
}

export type ErrorContainment = ReturnType<typeof containErrors>;

/**
 * Handles uncaught errors according to their origin. An adapter's error restarts that adapter
 * (D12); an error from a plugin's timer or event handler is logged, and the process continues
 * (P16). Any other uncaught error ends the process.
 */
export function containErrors(log: Logger) {
  const places: PluginLocation[] = [];
  const onError = (error: unknown): void => {
    if (reportAdapterError(error)) return;
    const plugin = findPluginOnStack(error, places);
    // Node then prints the error and ends the process, as it does without this listener.
    if (plugin === undefined) throw error;
    log.error({ plugin, reason: reasonOf(error) }, 'uncaught error in a plugin');
  };
  process.on('uncaughtException', onError);
  return {
    /** Must be called before any code of the plugin runs. */
    add: (place: PluginLocation): void => void places.push(place),
    stop: (): void => void process.off('uncaughtException', onError),
  };
}

/**
 * Finds the plugin whose code appears in the stack trace of an error; undefined if there is no such
 * plugin or no stack trace.
 */
export function findPluginOnStack(
  error: unknown,
  places: readonly PluginLocation[],
): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return places.find(({ folder }) => frames.some((frame) => frame.includes(`${folder}/`)))?.use;
}

/**
 * Loads the plugins for a command that inspects them. Plugin code may leave timers or connections
 * open, so the command calls `end` when it is finished. `end` exits the process if it does not exit
 * by itself first. Without plugins, `end` does nothing.
 */
export async function loadPluginsForCommand(
  first: LoadedSettings,
  { folder, env }: Pick<PlugInDeps, 'folder' | 'env'>,
  log: Logger = silentLogger,
) {
  const deps = { folder, env, channels: CHANNEL_DEFINITIONS, log, ...systemTime };
  const end = () => {
    if (first.settings.plugins.length > 0) setTimeout(() => process.exit(), 200).unref();
  };
  return { ...(await loadConfiguredPlugins(first, deps)), end };
}
