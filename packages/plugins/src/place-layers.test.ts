import {
  createAbsent,
  createBuiltInLayers,
  createLayerRegistry,
  getLayout,
  type Layout,
  type Volatility,
} from '@parley/prompt';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeLayers } from './place-layers.ts';
import type { PluginLayer } from './plugin.ts';

const registry = createLayerRegistry(createBuiltInLayers());
const LAYOUTS = ['parley', 'mushroom', 'lab', 'zeus', 'openclaw', 'neomagi'] as const;

function layer(id: string, options: Partial<PluginLayer> = {}): PluginLayer {
  const render = () => createAbsent('nothing to say');
  return { id, volatility: 'static', placement: 'system', render, ...options };
}

const place = (layout: Layout, ...layers: PluginLayer[]) =>
  placeLayers(layout, layers, registry.get);
const idsOf = ({ layers }: Layout) => layers.map(({ layer: id }) => id);
const before = (layout: Layout, id: string) => idsOf(layout)[idsOf(layout).indexOf(id) - 1];

describe('the position of a plugin’s layer', () => {
  const parley = getLayout('parley');

  it.each<[Volatility, string]>([
    ['static', 'soul-file'],
    ['session', 'daily-notes'],
  ])('[P09] for %s in the default layout is after %s, by volatility', (volatility, behind) => {
    expect(before(place(parley, layer('own', { volatility })), 'own')).toBe(behind);
  });

  it('[P16] is directly after the layer that it names', () => {
    const ids = idsOf(place(parley, layer('own', { after: 'agents-file' })));
    expect(ids.slice(ids.indexOf('agents-file'))).toEqual(
      expect.arrayContaining(['agents-file', 'own', 'soul-file']),
    );
    expect(before(place(parley, layer('own', { after: 'agents-file' })), 'own')).toBe(
      'agents-file',
    );
  });

  it('[P09] is never one that would shorten the cacheable prefix', () => {
    const late = place(parley, layer('own', { after: 'identity', volatility: 'turn' }));
    const ids = idsOf(late);
    expect(ids.indexOf('own')).toBeGreaterThan(ids.indexOf('daily-notes'));
  });

  it('[P16] depends on the layer’s volatility if the layer it names is not in the layout', () => {
    expect(before(place(parley, layer('own', { after: 'no-such' })), 'own')).toBe('soul-file');
  });

  it('[P05] is before the person’s text if the system prompt is fixed and the layer changes', () => {
    const { layers } = place(getLayout('lab'), layer('own', { volatility: 'turn' }));
    expect(layers.find(({ layer: id }) => id === 'own')).toMatchObject({ placement: 'user' });
  });

  it('[P16] follows the order of the settings when several layers request the same position', () => {
    const ids = idsOf(place(parley, layer('a'), layer('b')));
    expect(ids.indexOf('b')).toBe(ids.indexOf('a') + 1);
  });

  it('[P16] is directly after another plugin’s layer that it names', () => {
    expect(before(place(parley, layer('a'), layer('b', { after: 'a' })), 'b')).toBe('a');
  });
});

describe('an arbitrary set of plugin layers', () => {
  const house = registry.ids;
  const brought = fc.uniqueArray(
    fc.record({
      id: fc.constantFrom('one', 'two', 'three', 'four'),
      volatility: fc.constantFrom<Volatility>('static', 'session', 'turn'),
      placement: fc.constantFrom<'system' | 'user'>('system', 'user'),
      after: fc.constantFrom(...house, 'one', 'two', 'no-such'),
    }),
    { selector: ({ id }) => id },
  );

  /** Parley's own layers before the first `turn` layer, where the cacheable prefix ends. */
  const cached = (layout: Layout, all: readonly PluginLayer[]): string[] => {
    const found: string[] = [];
    for (const { layer: id, placement } of layout.layers) {
      const own = all.find((one) => one.id === id) ?? registry.get(id);
      if (own === undefined || own.placement === 'user' || placement === 'user') continue;
      if (own.volatility === 'turn') break;
      if (house.includes(id)) found.push(id);
    }
    return found;
  };

  it.each(LAYOUTS)('[P01] [P09] [P12] keeps order, safety and cacheability of %s', (name) => {
    const layout = getLayout(name);
    fc.assert(
      fc.property(brought, (choices) => {
        const layers = choices.map(({ id, ...rest }) => layer(id, rest));
        const placed = place(layout, ...layers);
        const ids = idsOf(placed);
        expect(ids.filter((id) => house.includes(id))).toEqual(idsOf(layout));
        expect(ids.toSorted()).toEqual(
          [...idsOf(layout), ...choices.map(({ id }) => id)].toSorted(),
        );
        expect(cached(placed, layers)).toEqual(cached(layout, []));
        const safety = ids.indexOf('safety');
        // A layer that names one of Parley's layers, or a plugin's layer that in turn names one,
        // may come before safety.
        const near = new Set(idsOf(layout));
        for (const { id, after = '' } of layers) if (near.has(after)) near.add(id);
        const free = layers.filter(({ id }) => !near.has(id));
        for (const { id } of free) expect(ids.indexOf(id)).toBeGreaterThan(safety);
      }),
    );
  });
});
