import type { Layer, LayerId } from './layer.ts';
import { ephemeralLayer } from './layers/ephemeral-layer.ts';
import { safetyLayer } from './layers/safety-layer.ts';
import { PromptError } from './prompt-error.ts';

/** The layers that layouts can name. Immutable; a plugin's layers make a new registry. */
export interface LayerRegistry {
  get(id: LayerId): Layer | undefined;
  readonly ids: readonly LayerId[];
}

/** Ids that the assembler gives to what hooks add and to the fence of a layout. */
const ASSEMBLERS_OWN = /^(addition-\d+|context-(begin|end))$/;

/**
 * Collects layers by id. Safety (P12) and the ephemeral prompt (P13) are always in it and cannot be
 * replaced. Throws PromptError `layer-reserved` or `layer-duplicate`.
 */
export function createLayerRegistry(layers: readonly Layer[]): LayerRegistry {
  const fixed = [safetyLayer, ephemeralLayer];
  const byId = new Map<LayerId, Layer>(fixed.map((layer) => [layer.id, layer]));
  for (const layer of layers) {
    if (fixed.some(({ id }) => id === layer.id) || ASSEMBLERS_OWN.test(layer.id)) {
      throw new PromptError(
        'layer-reserved',
        `The layer id "${layer.id}" is fixed: give the layer another id. Nothing can replace the ${layer.id} layer.`,
      );
    }
    if (byId.has(layer.id)) {
      throw new PromptError(
        'layer-duplicate',
        `Two prompt layers have the id "${layer.id}". Rename one of them.`,
      );
    }
    byId.set(layer.id, layer);
  }
  return { get: (id) => byId.get(id), ids: [...byId.keys()] };
}
