import { createToolRegistry } from '@parley/agent';
import { type Clock, type Logger, measureSchema, reasonOf } from '@parley/core';
import { createBuiltInLayers, createLayerRegistry } from '@parley/prompt';
import { z } from 'zod';
import { type ImportedPlugin, importPlugin, setUpPlugin, sharePackages } from './open-plugin.ts';
import { type LoadedParts, type PluginChoice, PluginError, type PluginOutcome } from './plugin.ts';

export interface LoadPluginsOptions {
  readonly plugins: readonly PluginChoice[];
  /** The folder of the settings file, to which plugin paths are relative. */
  readonly base: string;
  /**
   * The agent's workspace. No plugin code is loaded from the workspace, because the agent can write
   * to it.
   */
  readonly workspace: string;
  readonly log: Logger;
  readonly clock: Clock;
  /**
   * The names of Parley's own tools and channels. The names of Parley's layers are known in this
   * package.
   */
  readonly taken: Omit<TakenNames, 'layers'>;
  /** Called with the location of a plugin's code before the code runs. */
  readonly onFound?: (place: { readonly use: string; readonly folder: string }) => void;
  /**
   * The time limit, in ms, for importing a plugin and, separately, for its setup; 10 s when absent.
   */
  readonly patienceMs?: number;
}

const TIMEOUT_MS = 10_000;

/** A plugin while it is being loaded: the plugin itself, or why loading it has failed. */
type LoadStep<Good> =
  | { readonly choice: PluginChoice; readonly name: string | undefined; readonly failed: unknown }
  | { readonly choice: PluginChoice; readonly name: string | undefined; readonly good: Good };

/**
 * Loads the plugins in the order of the settings. Never throws because of a plugin: the failure is
 * logged in one line and reported in the outcome, and the other plugins work (P16).
 */
export async function loadPlugins(options: LoadPluginsOptions): Promise<readonly PluginOutcome[]> {
  const { plugins, log } = options;
  if (plugins.length === 0) return [];
  sharePackages();
  const deps = { onFound: () => {}, ...options, patienceMs: options.patienceMs ?? TIMEOUT_MS };
  const imported = await Promise.all(
    plugins.map((choice) => runLoadStep(choice, undefined, () => importPlugin(choice, deps))),
  );
  const opened = await Promise.all(
    refuseDuplicatePlugins(imported).map((at) => {
      if ('failed' in at) return at;
      const { choice, name, good } = at;
      return runLoadStep(choice, name, async () => ({
        ...good,
        ...(await setUpPlugin(good, choice, deps)),
      }));
    }),
  );
  let taken: TakenNames = {
    ...options.taken,
    layers: createLayerRegistry(createBuiltInLayers()).ids,
  };
  const outcomes = opened.map((at): PluginOutcome => {
    const { use } = at.choice;
    if ('failed' in at) return { kind: 'failed', use, name: at.name, reason: reasonOf(at.failed) };
    const { plugin, parts, left, defects } = at.good;
    const settled = resolveNameClashes(parts, taken);
    taken = settled.taken;
    const { name, version } = plugin;
    const omitted = [...left, ...settled.left];
    return { kind: 'loaded', use, name, version, parts: settled.parts, left: omitted, defects };
  });
  for (const outcome of outcomes) logOutcome(log, outcome);
  return outcomes;
}

async function runLoadStep<Good>(
  choice: PluginChoice,
  name: string | undefined,
  work: () => Promise<Good>,
): Promise<LoadStep<Good>> {
  try {
    return { choice, name, good: await work() };
  } catch (failed) {
    return { choice, name, failed };
  }
}

/**
 * Refuses plugins with the same name before any of them is set up, because they would compete for
 * the same resources.
 */
function refuseDuplicatePlugins(
  steps: readonly LoadStep<ImportedPlugin>[],
): readonly LoadStep<ImportedPlugin>[] {
  const firsts = new Map<string, string>();
  return steps.map((at) => {
    if ('failed' in at) return at;
    const { choice } = at;
    const { name } = at.good.plugin;
    const first = firsts.get(name);
    firsts.set(name, first ?? choice.use);
    if (first === undefined) return { ...at, name };
    const reason = `the plugin "${name}" is already loaded from ${first}. Remove one of them.`;
    return { choice, name, failed: new PluginError('plugin-duplicate', reason) };
  });
}

function logOutcome(log: Logger, outcome: PluginOutcome): void {
  const { use, name } = outcome;
  if (outcome.kind === 'failed') {
    log.error(
      { plugin: name ?? use, reason: outcome.reason },
      'a plugin does not work; continuing without it',
    );
    return;
  }
  for (const left of outcome.left) {
    log.warn({ plugin: name, left }, 'a part of a plugin was left out');
  }
  log.info({ plugin: name, version: outcome.version }, 'plugin loaded');
}

/** The names that are taken: Parley's own, then those of each earlier plugin. */
interface TakenNames {
  readonly tools: readonly string[];
  readonly layers: readonly string[];
  readonly channels: readonly string[];
}

/**
 * The accepted parts of a plugin, those that were dropped with the reasons, and the names taken
 * afterwards.
 */
interface ResolvedParts {
  readonly parts: LoadedParts;
  readonly left: readonly string[];
  readonly taken: TakenNames;
}

/**
 * Of several parts with the same name, the first is used: a later one is dropped, and the plugin's
 * other parts are kept. Tools that cannot be described to a model, and channels whose settings
 * cannot be validated, are also dropped.
 */
function resolveNameClashes(parts: LoadedParts, taken: TakenNames): ResolvedParts {
  const tools = dropDuplicateNames('tool', parts.tools, taken.tools, ({ name }) => name);
  const layers = dropDuplicateNames('layer', parts.layers, taken.layers, ({ id }) => id);
  const channels = dropDuplicateNames('channel', parts.channels, taken.channels, ({ id }) => id);
  const soundTools = selectDescribableTools(tools.kept);
  const soundChannels = selectValidChannels(channels.kept);
  return {
    parts: {
      ...parts,
      tools: soundTools.kept,
      layers: layers.kept,
      channels: soundChannels.kept,
    },
    left: [
      ...tools.left,
      ...soundTools.left,
      ...layers.left,
      ...channels.left,
      ...soundChannels.left,
    ],
    taken: { tools: tools.taken, layers: layers.taken, channels: channels.taken },
  };
}

function selectDescribableTools(tools: LoadedParts['tools']) {
  const { problems } = createToolRegistry({ builtIn: tools });
  return {
    kept: tools.filter(({ name }) => problems.every(({ tool }) => tool !== name)),
    left: problems.map(({ tool, message }) => `the tool "${tool}": ${message}`),
  };
}

/**
 * Checks the schemas of channels, because otherwise an error would occur while the settings are
 * read.
 */
function selectValidChannels(channels: LoadedParts['channels']) {
  const faults = channels.map(({ settings }) => {
    try {
      // Shared subschemas stay references, because expanding them could exceed the memory.
      const kept = { io: 'input', unrepresentable: 'any', reused: 'ref' } as const;
      measureSchema(z.toJSONSchema(settings, kept));
      settings.safeParse({});
      return null;
    } catch (error) {
      return reasonOf(error);
    }
  });
  return {
    kept: channels.filter((_, index) => faults[index] === null),
    left: channels.flatMap(({ id }, index) => {
      const fault = faults[index];
      return fault == null ? [] : [`the channel "${id}": its settings cannot be checked: ${fault}`];
    }),
  };
}

function dropDuplicateNames<Part>(
  what: string,
  parts: readonly Part[],
  taken: readonly string[],
  nameOf: (part: Part) => string,
) {
  const names = new Set(taken);
  const kept: Part[] = [];
  const left: string[] = [];
  for (const part of parts) {
    const name = nameOf(part);
    if (names.has(name)) left.push(`the ${what} "${name}": that name is taken; rename it`);
    else kept.push(part);
    names.add(name);
  }
  return { kept, left, taken: [...names] };
}
