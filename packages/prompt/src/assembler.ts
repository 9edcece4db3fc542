import { type Logger, silentLogger } from '@parley/contracts';
import type { FilePattern } from '@parley/workspace';
import type { AssembledPrompt, LayerReport } from './assembled-prompt.ts';
import { composePrompt, tokenMeter } from './compose-prompt.ts';
import { fixSystem } from './fixed-system.ts';
import type { LayerRegistry } from './layer-registry.ts';
import type { Layout } from './layout.ts';
import type { PromptAdditions } from './prompt-additions.ts';
import type { PromptContext } from './prompt-context.ts';
import { PromptError } from './prompt-error.ts';
import { renderAdditions, renderStep } from './rendering.ts';
import { resolveSteps } from './resolve-steps.ts';

export interface AssemblerOptions {
  readonly layers: LayerRegistry;
  readonly layout: Layout;
  readonly log?: Logger;
}

/** Makes the prompt of a turn. */
export interface PromptAssembler {
  /**
   * Rebuilds the prompt from its layers (P01), with what hooks add to this turn. Throws PromptError
   * `prompt-reader`.
   */
  assemble(context: PromptContext, additions?: PromptAdditions): Promise<AssembledPrompt>;
}

/** Checks that the layout can be built from the layers, once. Throws PromptError. */
export function createAssembler(options: AssemblerOptions): PromptAssembler {
  const { log = silentLogger, layout } = options;
  const { fixedSystem = false } = layout;
  const { steps, last } = resolveSteps(options.layers, layout);
  const tokens = tokenMeter();
  return {
    async assemble(context, additions = {}) {
      assertSameReader(context);
      const fresh = await Promise.all(steps.map((step) => renderStep(step, context, log)));
      const rendered = fixedSystem
        ? await fixSystem(fresh, context, { layout: layout.name, log })
        : fresh;
      const added = renderAdditions(additions, context.mode ?? 'full', fixedSystem);
      const all = [...rendered, ...added, await renderStep(last, context, log)];
      const prompt = composePrompt(all, context.reader, { layout, tokens });
      for (const line of prompt.report) tell(log, line);
      return prompt;
    },
  };
}

/**
 * The workspace files that the registered layers and the layout read; also of layers that the layout
 * leaves out, since the next layout may show them.
 */
export function declaredReads(layers: LayerRegistry, layout: Layout): readonly FilePattern[] {
  const declared = layers.ids.flatMap((id) => layers.get(id)?.reads ?? []);
  return [...declared, ...layout.layers.flatMap(({ files = [] }) => files)];
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
