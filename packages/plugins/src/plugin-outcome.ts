import type { Tool, TurnHook } from '@parley/agent';
import type { ChannelDefinition } from '@parley/channels';
import type { ContextSource } from '@parley/prompt';
import type { PluginLayer } from './plugin.ts';

/** A plugin as the settings name it; references in its options are replaced already. */
export interface PluginChoice {
  /** A folder, or the name of an installed package. */
  readonly use: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** What one or several plugins bring, checked. Skills are absolute folders. */
export interface Brought {
  readonly tools: readonly Tool[];
  readonly skills: readonly string[];
  readonly layers: readonly PluginLayer[];
  readonly hooks: readonly TurnHook[];
  readonly channels: readonly ChannelDefinition[];
  readonly sources: readonly ContextSource[];
}

/** What became of one plugin of the settings. */
export type PluginOutcome =
  | {
      readonly kind: 'loaded';
      readonly use: string;
      readonly name: string;
      readonly version: string | undefined;
      readonly brings: Brought;
      /** Parts that were left out, and why; for people. */
      readonly left: readonly string[];
    }
  | {
      readonly kind: 'failed';
      readonly use: string;
      /** Undefined where it did not come so far as to say its name. */
      readonly name: string | undefined;
      /** Finishes the sentence "NAME does not work: …". */
      readonly reason: string;
    };

/** What all plugins that work bring together, in the order of the settings. */
export function broughtBy(outcomes: readonly PluginOutcome[]): Brought {
  const all = outcomes.flatMap((outcome) => (outcome.kind === 'loaded' ? [outcome.brings] : []));
  return {
    tools: all.flatMap(({ tools }) => tools),
    skills: all.flatMap(({ skills }) => skills),
    layers: all.flatMap(({ layers }) => layers),
    hooks: all.flatMap(({ hooks }) => hooks),
    channels: all.flatMap(({ channels }) => channels),
    sources: all.flatMap(({ sources }) => sources),
  };
}
