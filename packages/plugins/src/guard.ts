import { withTimeLimit } from '@parley/agent';
import type { ChannelDefinition } from '@parley/channels';
import { Audience } from '@parley/core';
import type { ContextSource, Layer } from '@parley/prompt';
import { z } from 'zod';
import type { PluginLayer } from './plugin.ts';

/** As long as a hook has (P16). In ms. */
const PATIENCE_MS = 2_000;
/** As long as a setup has. In ms. */
const LOAD_MS = 10_000;

const Cut = z.object({ shown: z.number(), total: z.number() });
const Rendered = z.union([
  z.object({ absent: z.string() }),
  z.object({
    text: z.string(),
    source: z.string(),
    audience: Audience,
    cut: Cut.nullable().exactOptional(),
  }),
]);
const Features = z.looseObject({});

/**
 * A plugin's layer that cannot hold up or break the assembling of a prompt: it throws when it takes
 * too long or returns anything but text with an audience, and the assembler leaves it out.
 */
export function guardedLayer(layer: PluginLayer, patienceMs = PATIENCE_MS): Layer {
  const { id, volatility, placement, modes, reads = [] } = layer;
  return {
    id,
    volatility,
    placement,
    reads,
    ...(modes === undefined ? {} : { modes }),
    async render(context, options) {
      const output = await withTimeLimit({ ms: patienceMs }, async () =>
        layer.render(context, options),
      );
      const { data, error } = Rendered.safeParse(output);
      if (error) throw new Error(`the layer ${id} returned neither text nor a reason for none`);
      return data;
    },
  };
}

/** The same for a source; what its fields hold is for the layers to judge. */
export function guardedSource(source: ContextSource, patienceMs = PATIENCE_MS): ContextSource {
  const { id, reads = [] } = source;
  return {
    id,
    reads,
    gather: (turn) =>
      withTimeLimit({ ms: patienceMs }, async () => Features.parse(await source.gather(turn))),
  };
}

/** A plugin's channel whose code cannot hold up the start of the others. */
export function guardedChannel(
  channel: ChannelDefinition,
  patienceMs = LOAD_MS,
): ChannelDefinition {
  const { id, settings, answersStrangers } = channel;
  return {
    id,
    settings,
    ...(answersStrangers === undefined ? {} : { answersStrangers }),
    load: () => withTimeLimit({ ms: patienceMs }, async () => channel.load()),
  };
}
