import { type Logger, PromptPart } from '@parley/contracts';
import { restrictView } from '@parley/workspace';
import type { Absent, Layer, LayerId, LayerOptions, LayerPart, Placement } from './layer.ts';
import { absent } from './layer.ts';
import type { PromptAdditions } from './prompt-additions.ts';
import type { PromptContext, PromptMode } from './prompt-context.ts';

/** A layer as one layout uses it. */
export interface Step {
  readonly layer: Layer;
  readonly placement: Placement;
  readonly options: LayerOptions;
}

/** What a layer gave: text, nothing, or an error. */
export interface Rendering {
  readonly layer: LayerId;
  readonly placement: Placement;
  /** May be different in the next turn. */
  readonly changes: boolean;
  readonly output: LayerPart | Absent | { readonly failed: unknown };
}

const FULL_ALONE: readonly PromptMode[] = ['full'];

/** The workspace files that a layer may read in a layout. */
function readsOf({ layer, options }: Pick<Step, 'layer' | 'options'>): readonly string[] {
  return [...(layer.reads ?? []), ...(options.files ?? [])];
}

/**
 * Asks one layer, which sees the files that it declares and no other. Stays synchronous where the layer
 * is, since most are and promises cost time.
 */
export function renderStep(
  step: Step,
  context: PromptContext,
  log: Logger,
): Rendering | Promise<Rendering> {
  const { layer, placement } = step;
  const { mode = 'full' } = context;
  const told = { layer: layer.id, placement, changes: layer.volatility === 'turn' };
  const { modes = FULL_ALONE } = layer;
  if (!modes.includes(mode)) return { ...told, output: absent(`left out in ${mode} mode`) };
  try {
    const view = restrictView(context.view, { id: layer.id, reads: readsOf(step) }, log);
    const output = layer.render({ ...context, view }, step.options);
    if (!(output instanceof Promise)) return { ...told, output: wellFormed(output) };
    return output.then(
      (part) => ({ ...told, output: wellFormed(part) }),
      (failed: unknown) => ({ ...told, output: { failed } }),
    );
  } catch (failed) {
    return { ...told, output: { failed } };
  }
}

/** What hooks add, as if each part were a layer; a fixed system prompt takes none of it (P05). */
export function renderAdditions(
  { system = [], userContext = [] }: PromptAdditions,
  mode: PromptMode,
  fixedSystem: boolean,
): readonly Rendering[] {
  const placed = [
    ...system.map((part) => ({ part, placement: fixedSystem ? 'user' : 'system' }) as const),
    ...userContext.map((part) => ({ part, placement: 'user' }) as const),
  ];
  return placed.map(({ part, placement }, index) => ({
    layer: `addition-${index + 1}`,
    placement,
    changes: true,
    output: mode === 'none' ? absent('left out in none mode') : wellFormed(part),
  }));
}

/**
 * Features come from many hands. One that is not what it should be costs its layer, never the turn:
 * without an audience nobody could say who may read it.
 */
function wellFormed(output: LayerPart | Absent): Rendering['output'] {
  if (output !== undefined && 'absent' in output) return output;
  if (PromptPart.safeParse(output).success) return output;
  return { failed: new Error('it gave neither a text with its source and audience nor a reason') };
}
