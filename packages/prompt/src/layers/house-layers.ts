import { type ChannelFormats, formatLayer } from '../channel-formats.ts';
import type { Layer } from '../layer.ts';
import { abilityLayers } from './abilities.ts';
import { fileLayers } from './files.ts';
import { instructionLayers } from './instructions.ts';
import { memoryLayers } from './memory.ts';
import { turnLayers } from './turn.ts';

/**
 * The layers that come with Parley, for `createLayerRegistry`; safety and the ephemeral prompt are
 * always there by themselves. `channelFormats` is what `readChannelFormats` gave.
 */
export function houseLayers(channelFormats: ChannelFormats = {}): readonly Layer[] {
  return [
    ...instructionLayers,
    ...fileLayers,
    ...abilityLayers(),
    ...memoryLayers,
    ...turnLayers,
    formatLayer(channelFormats),
  ];
}
