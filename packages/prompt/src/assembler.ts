import { Audience, type Logger, type PromptPart, reasonOf, silentLogger } from '@parley/core';
import { type FilePattern, restrictView } from '@parley/workspace';
import { z } from 'zod';
import {
  type AssembledPrompt,
  createPromptComposer,
  type LayerReport,
} from './assembled-prompt.ts';
import {
  type Absent,
  createAbsent,
  isIncludedInMode,
  type LayerId,
  type LayerOutput,
  type LayerPart,
  type PromptContext,
  PromptError,
  type PromptMode,
  type RenderedLayer,
} from './layer.ts';
import { safetyLayer } from './layers/instructions.ts';
import { type LayerRegistry, type Layout, type LayoutStep, resolveLayoutSteps } from './layout.ts';

export interface AssemblerOptions {
  readonly layers: LayerRegistry;
  readonly layout: Layout;
  readonly log?: Logger;
}

/**
 * Additions of hooks to the layers of a turn (P16). Additions are placed after the layers and
 * before the ephemeral prompt. As with layers, parts that the reader may not see are withheld.
 */
export interface HookPromptParts {
  readonly system?: readonly PromptPart[];
  /** Parts placed as data before the person's own text. */
  readonly userContext?: readonly PromptPart[];
}

export interface PromptAssembler {
  /**
   * Builds the prompt from its layers (P01) and the hooks' additions to this turn. Throws
   * PromptError `prompt-reader`.
   */
  assemble(context: PromptContext, additions?: HookPromptParts): Promise<AssembledPrompt>;
}

/** Checks once that all layers of the layout are available. Throws PromptError. */
export function createPromptAssembler(options: AssemblerOptions): PromptAssembler {
  const { log = silentLogger, layout } = options;
  const { fixedSystem = false } = layout;
  const { steps, last } = resolveLayoutSteps(options.layers, layout);
  const compose = createPromptComposer(layout);
  return {
    async assemble(context, additions = {}) {
      assertSameReader(context);
      const render = createLayerRenderer(context, log);
      const fresh = await awaitRenderings(steps.map(render));
      const rendered = fixedSystem
        ? await freezeSystemPrompt(fresh, context, { layout: layout.name, log })
        : fresh;
      const added = renderHookParts(additions, context.mode ?? 'full', fixedSystem);
      const prompt = compose([...rendered, ...added, await render(last)], context.reader);
      for (const line of prompt.report) logDefect(log, line);
      return prompt;
    },
  };
}

/**
 * The workspace files that the registered layers and the layout read. Files of layers that the
 * layout omits are included, because the next layout may show them.
 */
export function listDeclaredReads(layers: LayerRegistry, layout: Layout): readonly FilePattern[] {
  const declared = layers.ids.flatMap((id) => layers.get(id)?.reads ?? []);
  return [...declared, ...layout.layers.flatMap(({ files = [] }) => files)];
}

/** Two independent sources must agree on the reader before any private file is read. */
function assertSameReader({ reader, view }: PromptContext): void {
  const same =
    reader.kind === view.reader.kind && reader.conversationId === view.reader.conversationId;
  if (same) return;
  throw new PromptError(
    'prompt-reader',
    `The turn runs for ${reader.kind} in ${reader.conversationId}, its workspace view for ${view.reader.kind} in ${view.reader.conversationId}. Make the view with workspace.for(reader) of this turn.`,
  );
}

const NO_READS = { id: 'a layer without reads' };

/**
 * Renders the layers of one turn. Each layer sees only the files that it declares. Layers without
 * declared files share one context: copying the context for every layer would be the most expensive
 * step in building a prompt.
 */
function createLayerRenderer(
  context: PromptContext,
  log: Logger,
): (step: LayoutStep) => RenderedLayer | Promise<RenderedLayer> {
  const { mode = 'full' } = context;
  const withoutFiles = { ...context, view: restrictView(context.view, NO_READS, log) };
  return ({ layer, placement, options, reads }) => {
    const rendering = (output: LayerOutput): RenderedLayer => {
      return { layer: layer.id, placement, changes: layer.volatility === 'turn', output };
    };
    if (options.off !== undefined) return rendering(createAbsent(options.off));
    if (!isIncludedInMode(layer.modes, mode))
      return rendering(createAbsent(`omitted in ${mode} mode`));
    try {
      const seen =
        reads === null
          ? withoutFiles
          : { ...context, view: restrictView(context.view, { id: layer.id, reads }, log) };
      const output = layer.render(seen, options);
      // Returns synchronously when the layer does, because most layers are synchronous and promises
      // cost time.
      if (!(output instanceof Promise)) return rendering(checkLayerOutput(output));
      return output.then(
        (part) => rendering(checkLayerOutput(part)),
        (failed: unknown) => rendering({ failed }),
      );
    } catch (failed) {
      return rendering({ failed });
    }
  };
}

/** Awaits only the promises among the items; all of them have already started. */
async function awaitRenderings(
  renderings: readonly (RenderedLayer | Promise<RenderedLayer>)[],
): Promise<readonly RenderedLayer[]> {
  const done: RenderedLayer[] = [];
  for (const one of renderings) done.push(one instanceof Promise ? await one : one);
  return done;
}

/**
 * Renders the hooks' additions as if each part were a layer. A fixed system prompt does not accept
 * additions (P05).
 */
function renderHookParts(
  { system = [], userContext = [] }: HookPromptParts,
  mode: PromptMode,
  fixedSystem: boolean,
): readonly RenderedLayer[] {
  const placed = [
    ...system.map((part) => ({ part, placement: fixedSystem ? 'user' : 'system' }) as const),
    ...userContext.map((part) => ({ part, placement: 'user' }) as const),
  ];
  return placed.map(({ part, placement }, index) => ({
    layer: `addition-${index + 1}`,
    placement,
    changes: true,
    output: mode === 'none' ? createAbsent('omitted in none mode') : checkLayerOutput(part),
  }));
}

/**
 * Layers are written by plugin authors too. If an output is invalid, only its layer is omitted and
 * the turn continues: without an audience, it is unknown who may read the text.
 */
function checkLayerOutput(output: LayerPart | Absent): LayerOutput {
  if (output !== undefined && ('absent' in output || isValidPart(output))) return output;
  return {
    failed: new Error('it returned neither text with its source and audience nor a reason'),
  };
}

/**
 * The check is handwritten, because every layer passes through it in every turn, and a schema would
 * copy each value.
 */
function isValidPart({ text, source, audience }: LayerPart): boolean {
  if (typeof text !== 'string' || typeof source !== 'string') return false;
  if (typeof audience !== 'object' || audience === null) return false;
  const isChats = audience.kind === 'conversation';
  if (!isChats && audience.kind !== 'owner' && audience.kind !== 'everyone') return false;
  for (const key in audience)
    if (key !== 'kind' && !(isChats && key === 'conversationId')) return false;
  return !isChats || typeof audience.conversationId === 'string';
}

/** In both cases the person gets an answer, and the log informs the operator. */
function logDefect(log: Logger, line: LayerReport): void {
  if (line.outcome === 'withheld') {
    const { layer, source } = line;
    log.error({ layer, source }, 'a prompt layer returned private text, which was withheld');
  }
  if (line.outcome === 'failed') {
    log.error({ layer: line.layer, reason: line.reason }, 'a prompt layer failed and was left out');
  }
}

/** The layer's text in the first turn; `null` if the layer was absent. */
const StoredLayer = z.nullable(
  z.object({
    text: z.string(),
    source: z.string(),
    audience: Audience,
    cut: z.nullable(z.object({ shown: z.int(), total: z.int() })),
  }),
);
type StoredLayer = z.infer<typeof StoredLayer>;

const KeptLayers = z.record(z.string(), StoredLayer);

/**
 * Replaces this turn's system prompt with the one from the session's first turn (P05), because
 * files, tools and skills may have changed. The safety layer is never stored: it always comes from
 * the code (P12). If storing fails, the turn continues with the current values, and the operator is
 * notified.
 */
async function freezeSystemPrompt(
  renderings: readonly RenderedLayer[],
  context: PromptContext,
  place: { readonly layout: string; readonly log: Logger },
): Promise<readonly RenderedLayer[]> {
  if (context.fix === undefined) return renderings;
  const now = Object.fromEntries(
    renderings.filter(isFrozenLayer).map(({ layer, output }) => [layer, toStoredLayer(output)]),
  );
  const key = `prompt:${place.layout}:${context.mode ?? 'full'}`;
  try {
    const kept = await context.fix(key, now, KeptLayers);
    return renderings.map((rendering) =>
      isFrozenLayer(rendering) ? restoreLayerText(rendering, kept) : rendering,
    );
  } catch (error) {
    place.log.error(
      { layout: place.layout, reason: reasonOf(error) },
      'could not store the system prompt of the session; this turn uses the current one',
    );
    return renderings;
  }
}

function isFrozenLayer({ layer, placement }: RenderedLayer): boolean {
  return placement === 'system' && layer !== safetyLayer.id;
}

function toStoredLayer(output: RenderedLayer['output']): StoredLayer {
  if (!('text' in output)) return null;
  const { text, source, audience, cut = null } = output;
  return { text, source, audience, cut };
}

function restoreLayerText(
  rendering: RenderedLayer,
  kept: Readonly<Record<LayerId, StoredLayer>>,
): RenderedLayer {
  const first = kept[rendering.layer] ?? null;
  if (first !== null) return { ...rendering, output: first };
  if (!('text' in rendering.output)) return rendering;
  return { ...rendering, output: createAbsent('it was absent in the first turn of the session') };
}
