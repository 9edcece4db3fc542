import type { Tool, TurnHook } from '@parley/agent';
import type { ChannelDefinition } from '@parley/channels';
import type { Clock, Logger } from '@parley/contracts';
import type { ContextSource, Layer, LayerId } from '@parley/prompt';
import type { z } from 'zod';

/** What a plugin gets from Parley when it is set up. */
export interface PluginHost {
  /** Names the plugin in each line; secrets of the settings are removed behind it. */
  readonly log: Logger;
  readonly clock: Clock;
  /** The plugin's own folder, absolute. */
  readonly folder: string;
  /** Fires when the setup takes too long. */
  readonly signal: AbortSignal;
}

/** A prompt layer of a plugin. Its text carries an audience like every other text. */
export interface PluginLayer extends Layer {
  /** Stands right after this layer where that keeps the prompt cacheable; else by its volatility. */
  readonly after?: LayerId;
}

/** What a plugin brings (P16). Everything is optional. */
export interface PluginParts {
  readonly tools?: readonly Tool[];
  /** Folders with skills, seen from the plugin's folder. Any other source of skills wins over them. */
  readonly skills?: readonly string[];
  readonly layers?: readonly PluginLayer[];
  readonly hooks?: readonly TurnHook[];
  readonly channels?: readonly ChannelDefinition[];
  /** Fill in what the layers of Parley show; Parley's own sources win. */
  readonly sources?: readonly ContextSource[];
}

/** A plugin: what its package or folder exports as `plugin`. */
export interface Plugin<Options = unknown> {
  /** Kebab-case. Two plugins of one name are not loaded together. */
  readonly name: string;
  readonly version?: string;
  /** Checks `options` of the settings; without it they are handed over as they are written. */
  readonly options?: z.ZodType<Options>;
  /** Ten seconds are allowed. What it throws is shown to the operator; Parley goes on without it. */
  setup(options: Options, host: PluginHost): PluginParts | Promise<PluginParts>;
}

/** Ties the type of the options to their schema; gives back what it gets. */
export function definePlugin<Options = Readonly<Record<string, unknown>>>(
  plugin: Plugin<Options>,
): Plugin {
  return plugin;
}
