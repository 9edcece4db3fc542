import type { Layer, LayerId, Layout, LayoutEntry, Volatility } from '@parley/prompt';
import type { PluginLayer } from './plugin.ts';

const RANK: Readonly<Record<Volatility, number>> = { static: 0, session: 1, turn: 2 };

/** Looks up the volatility and placement of a layer. */
type FindLayer = (id: LayerId) => Pick<Layer, 'volatility' | 'placement'> | undefined;

/**
 * Inserts plugin layers into a layout. A layer is inserted right after the layer it names, provided
 * that no later layer changes less often. Otherwise the layer is inserted after the safety layers
 * and before the first layer that changes more often, so that providers can cache as much of a
 * prompt as before (P09). A plugin's layer never becomes part of the text that a layout keeps
 * unchanged for a whole session (P05).
 */
export function placeLayers(
  layout: Layout,
  layers: readonly PluginLayer[],
  layerOf: FindLayer,
): Layout {
  const known = new Map(layers.map((layer) => [layer.id, layer]));
  const find: FindLayer = (id) => known.get(id) ?? layerOf(id);
  const placed = layers.reduce(
    (entries, layer) => insertLayer(entries, layer, find, layout.fixedSystem === true),
    layout.layers,
  );
  return { ...layout, layers: placed };
}

function insertLayer(
  entries: readonly LayoutEntry[],
  layer: PluginLayer,
  layerOf: FindLayer,
  fixed: boolean,
): readonly LayoutEntry[] {
  const volatile = layer.volatility === 'turn' && layer.placement === 'system';
  const entry: LayoutEntry =
    fixed && volatile ? { layer: layer.id, placement: 'user' } : { layer: layer.id };
  if (layer.placement === 'user' || entry.placement === 'user') return [...entries, entry];
  const requested = entries.findIndex(({ layer: id }) => id === layer.after) + 1;
  const at =
    requested > 0 && fitsCacheOrder(entries.slice(requested), layer, layerOf) ? requested : null;
  return entries.toSpliced(at ?? findIndexByVolatility(entries, layer, layerOf), 0, entry);
}

/**
 * Whether all layers after the position, within the cacheable prefix, change at least as often as
 * this layer.
 */
function fitsCacheOrder(
  behind: readonly LayoutEntry[],
  layer: PluginLayer,
  layerOf: FindLayer,
): boolean {
  const ranks = behind.flatMap((entry) => rankEntry(entry, layerOf));
  const end = ranks.indexOf(RANK.turn);
  const cached = end === -1 ? ranks : ranks.slice(0, end);
  return cached.every((rank) => rank >= RANK[layer.volatility]);
}

function findIndexByVolatility(
  entries: readonly LayoutEntry[],
  layer: PluginLayer,
  layerOf: FindLayer,
): number {
  const own = RANK[layer.volatility];
  const first = entries.findIndex((entry) => rankEntry(entry, layerOf).some((rank) => rank > own));
  const safety = entries.findIndex(({ layer: id }) => id === 'safety') + 1;
  return Math.max(first === -1 ? entries.length : first, safety);
}

/** The rank of a system layer by its volatility; empty for a layer before the person's text. */
function rankEntry(entry: LayoutEntry, layerOf: FindLayer): readonly number[] {
  const layer = layerOf(entry.layer);
  if (layer === undefined || layer.placement === 'user' || entry.placement === 'user') return [];
  return [RANK[layer.volatility]];
}
