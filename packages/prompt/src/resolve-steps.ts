import type { LayerRegistry } from './layer-registry.ts';
import { ephemeralLayer } from './layers/ephemeral-layer.ts';
import { safetyLayer } from './layers/safety-layer.ts';
import type { Layout, LayoutEntry } from './layout.ts';
import { PromptError } from './prompt-error.ts';
import type { Step } from './rendering.ts';

/** The layers of a layout in their order, with the last one apart. */
export interface ResolvedSteps {
  readonly steps: readonly Step[];
  /** The ephemeral prompt: after everything else, wherever the layout named it (P13). */
  readonly last: Step;
}

/**
 * Looks up the layers that a layout names. Safety comes first where the layout forgot it (P12).
 * Throws PromptError `layer-unknown` or `layout-duplicate`.
 */
export function resolveSteps(layers: LayerRegistry, layout: Layout): ResolvedSteps {
  assertEachOnce(layout);
  const named = layout.layers.some(({ layer }) => layer === safetyLayer.id);
  const entries = named ? layout.layers : [{ layer: safetyLayer.id }, ...layout.layers];
  const ephemeral = entries.find(({ layer }) => layer === ephemeralLayer.id);
  return {
    steps: entries
      .filter((entry) => entry !== ephemeral)
      .map((entry) => resolve(entry, layers, layout.name)),
    last: stepOf(ephemeralLayer, ephemeral ?? { layer: ephemeralLayer.id }),
  };
}

function resolve(entry: LayoutEntry, layers: LayerRegistry, layout: string): Step {
  // Never looked up: whatever a registry holds under this name, safety is safety.
  if (entry.layer === safetyLayer.id) return stepOf(safetyLayer, { layer: safetyLayer.id });
  const layer = layers.get(entry.layer);
  if (layer !== undefined) return stepOf(layer, entry);
  throw new PromptError(
    'layer-unknown',
    `The layout "${layout}" names the layer "${entry.layer}", which does not exist. Known layers: ${layers.ids.join(', ')}.`,
  );
}

function stepOf(layer: Step['layer'], entry: LayoutEntry): Step {
  const { layer: _, placement = layer.placement, ...options } = entry;
  return { layer, placement, options };
}

function assertEachOnce(layout: Layout): void {
  const ids = layout.layers.map(({ layer }) => layer);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice === undefined) return;
  throw new PromptError(
    'layout-duplicate',
    `The layout "${layout.name}" names the layer "${twice}" twice. Remove one of them.`,
  );
}
