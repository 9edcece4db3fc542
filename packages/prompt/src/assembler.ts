import { type Logger, reasonOf, silentLogger } from '@parley/contracts';
import type { AssembledPrompt, LayerReport, SystemPart, UserPart } from './assembled-prompt.ts';
import { enforceAudience } from './enforce-audience.ts';
import { estimateTokens } from './estimate-tokens.ts';
import type { Absent, Layer, LayerPart } from './layer.ts';
import type { LayerRegistry } from './layer-registry.ts';
import { safetyLayer } from './layers/safety-layer.ts';
import type { Layout, LayoutEntry } from './layouts.ts';
import type { PromptContext } from './prompt-context.ts';
import { PromptError } from './prompt-error.ts';

export interface AssemblerOptions {
  readonly layers: LayerRegistry;
  readonly layout: Layout;
  readonly log?: Logger;
}

/** Makes the prompt of a turn. */
export interface PromptAssembler {
  /** Rebuilds the prompt from its layers (P01). Throws PromptError `prompt-reader`. */
  assemble(context: PromptContext): Promise<AssembledPrompt>;
}

/** A layer with its limits in this layout. */
interface Step extends LayoutEntry {
  readonly renders: Layer;
}

/** What a layer gave: text, nothing, or an error. */
interface Rendering {
  readonly layer: Layer;
  readonly output: LayerPart | Absent | { readonly failed: unknown };
}

/** Checks that the layout can be built from the layers, once. Throws PromptError. */
export function createAssembler(options: AssemblerOptions): PromptAssembler {
  const { log = silentLogger, layout } = options;
  const steps = resolveSteps(options.layers, layout);
  return {
    async assemble(context) {
      assertSameReader(context);
      const renderings = await Promise.all(steps.map((step) => renderStep(step, context)));
      const report = renderings.map((rendering) => reportOn(rendering, context));
      for (const line of report) tell(log, line);
      return { layout: layout.name, ...partsOf(renderings, context), report };
    },
  };
}

/** The safety layer comes first where the layout forgot it (P12). */
function resolveSteps(layers: LayerRegistry, layout: Layout): readonly Step[] {
  const named = layout.layers.some(({ layer }) => layer === safetyLayer.id);
  const entries = named ? layout.layers : [{ layer: safetyLayer.id }, ...layout.layers];
  const seen = new Set<string>();
  return entries.map((entry) => {
    const renders = entry.layer === safetyLayer.id ? safetyLayer : layers.get(entry.layer);
    if (renders === undefined) {
      throw new PromptError(
        'layer-unknown',
        `The layout "${layout.name}" names the layer "${entry.layer}", which does not exist. Known layers: ${layers.ids.join(', ')}.`,
      );
    }
    if (seen.has(entry.layer)) {
      throw new PromptError(
        'layout-duplicate',
        `The layout "${layout.name}" names the layer "${entry.layer}" twice. Remove one of them.`,
      );
    }
    seen.add(entry.layer);
    return { ...entry, renders };
  });
}

/** Two independent statements of who reads must agree before any private file is touched. */
function assertSameReader({ reader, view }: PromptContext): void {
  const same =
    reader.kind === view.reader.kind && reader.conversationId === view.reader.conversationId;
  if (same) return;
  throw new PromptError(
    'prompt-reader',
    `The turn runs for ${reader.kind} in ${reader.conversationId}, its workspace view for ${view.reader.kind} in ${view.reader.conversationId}. Make the view with workspace.for(reader) of this turn.`,
  );
}

async function renderStep(step: Step, context: PromptContext): Promise<Rendering> {
  try {
    return { layer: step.renders, output: await step.renders.render(context, step.limits ?? {}) };
  } catch (failed) {
    return { layer: step.renders, output: { failed } };
  }
}

function partsOf(
  renderings: readonly Rendering[],
  { reader }: PromptContext,
): Pick<AssembledPrompt, 'system' | 'userContext'> {
  const system: SystemPart[] = [];
  const userContext: UserPart[] = [];
  let stable = true;
  for (const { layer, output } of renderings) {
    if (!('text' in output)) continue;
    const { text, source, audience } = output;
    const part = { text, source, audience, layer: layer.id };
    if (layer.placement === 'user') {
      userContext.push(part);
      continue;
    }
    stable &&= layer.volatility !== 'turn';
    system.push({ ...part, stable });
  }
  return {
    system: enforceAudience(reader, system).allowed,
    userContext: enforceAudience(reader, userContext).allowed,
  };
}

function reportOn({ layer, output }: Rendering, { reader }: PromptContext): LayerReport {
  const base = { layer: layer.id, placement: layer.placement };
  if ('failed' in output) return { ...base, outcome: 'failed', reason: reasonOf(output.failed) };
  if ('absent' in output) return { ...base, outcome: 'absent', reason: output.absent };
  const { text, source, audience, cut = null } = output;
  if (enforceAudience(reader, [output]).withheld.length > 0) {
    return { ...base, outcome: 'withheld', source, audience };
  }
  const size = { characters: text.length, tokens: estimateTokens(text) };
  return { ...base, outcome: 'present', source, audience, ...size, cut };
}

/** Both are defects of a layer: the person gets an answer, the operator gets a line. */
function tell(log: Logger, line: LayerReport): void {
  if (line.outcome === 'withheld') {
    const { layer, source } = line;
    log.error({ layer, source }, 'a prompt layer offered private text; it was withheld');
  }
  if (line.outcome === 'failed') {
    log.error({ layer: line.layer, reason: line.reason }, 'a prompt layer failed and was left out');
  }
}
