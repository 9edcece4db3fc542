import type { LayerId, LayerLimits } from './layer.ts';
import { PromptError } from './prompt-error.ts';

/** One line of a layout: a layer and what limits it here. */
export interface LayoutEntry {
  readonly layer: LayerId;
  readonly limits?: LayerLimits;
}

/** The order of a prompt, as data (P01). */
export interface Layout {
  readonly name: string;
  readonly layers: readonly LayoutEntry[];
}

/** All layouts that can be named in the settings (P03). */
const LAYOUTS: readonly Layout[] = [
  {
    // Sorted by how rarely a layer changes, so that a provider's prompt cache keeps most of it (P09).
    name: 'parley',
    layers: [
      { layer: 'identity' },
      { layer: 'safety' },
      { layer: 'agents-file', limits: { characters: 20_000 } },
      { layer: 'soul-file', limits: { characters: 20_000 } },
      { layer: 'tools' },
      { layer: 'format' },
      { layer: 'runtime-facts' },
      { layer: 'group-context' },
      { layer: 'message-context' },
    ],
  },
];

/** The layout of that name. Throws PromptError `layout-unknown` naming those that exist. */
export function layoutNamed(name: string): Layout {
  const layout = LAYOUTS.find((candidate) => candidate.name === name);
  if (layout !== undefined) return layout;
  const names = LAYOUTS.map((candidate) => candidate.name).join(', ');
  throw new PromptError(
    'layout-unknown',
    `There is no prompt layout "${name}". Set agent.layout to one of: ${names}.`,
  );
}
