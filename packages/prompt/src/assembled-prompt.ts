import {
  type Audience,
  mayRead,
  neutralizeTemplateTokens,
  type PromptPart,
  type Reader,
  reasonOf,
  type SentPart,
  type SentPrompt,
  type UnsentLayer,
} from '@parley/core';
import { estimateTokens, type TextTruncation } from '@parley/workspace';
import type { LayerId, LayerPart, Placement, RenderedLayer } from './layer.ts';
import type { ContextFence, Layout } from './layout.ts';

/** A part of the system prompt. */
export interface SystemPart extends PromptPart {
  readonly layer: LayerId;
  /**
   * Whether the part precedes the cache boundary: the text up to the end of this part does not
   * change from turn to turn.
   */
  readonly stable: boolean;
  /** Estimated. */
  readonly tokens: number;
}

/** Data for the model, placed before the person's own text in the user message. */
export type UserPart = Omit<SystemPart, 'stable'>;

/** The inspector's report on one layer (P17). */
export type LayerReport = { readonly layer: LayerId; readonly placement: Placement } & (
  | {
      readonly outcome: 'present';
      readonly source: string;
      readonly audience: Audience;
      readonly characters: number;
      /** Estimated. */
      readonly tokens: number;
      readonly cut: TextTruncation | null;
    }
  | { readonly outcome: 'absent'; readonly reason: string }
  /** The layer returned text that this reader must not see. The prompt omits the text. */
  | { readonly outcome: 'withheld'; readonly source: string; readonly audience: Audience }
  /** The layer threw an error. The prompt omits the layer. */
  | { readonly outcome: 'failed'; readonly reason: string }
);

/**
 * A prompt ready for the model, with a report on how it was built. Parts are in order. Layer ids
 * are unique within the prompt: for each part, exactly one line of the report says `present`.
 */
export interface AssembledPrompt {
  readonly layout: string;
  readonly system: readonly SystemPart[];
  readonly userContext: readonly UserPart[];
  readonly report: readonly LayerReport[];
  /** The markers that the layout puts around Parley's additions to a person's message. */
  readonly fence?: ContextFence;
}

/** The parts that a reader may see, and those that must not reach the model. */
export interface AudienceCheckResult<Part extends PromptPart> {
  readonly allowed: readonly Part[];
  readonly withheld: readonly Part[];
}

const NONE: readonly never[] = [];

/**
 * The last check before a model call (W02). Run the check again after every step that may have
 * added or changed parts. A withheld part indicates a bug in the code that created it; the person
 * still gets an answer.
 */
export function enforceAudience<Part extends PromptPart>(
  reader: Reader,
  parts: readonly Part[],
): AudienceCheckResult<Part> {
  if (parts.every(({ audience }) => mayRead(reader, audience)))
    return { allowed: parts, withheld: NONE };
  return {
    allowed: parts.filter((part) => mayRead(reader, part.audience)),
    withheld: parts.filter((part) => !mayRead(reader, part.audience)),
  };
}

/** The processed output of a layer: its report line and, if the reader may see it, its part. */
interface ComposedLayer {
  readonly line: LayerReport;
  readonly part: SystemPart | null;
}

/** How many versions of a layer's text are cached. Most chats share a few versions per layer. */
const REMEMBERED = 4;

/**
 * Creates the function that arranges the output of the layers and reports on each layer. Results
 * are cached for the latest versions of layers that change less often than every turn.
 */
export function createPromptComposer(
  layout: Layout,
): (rendered: readonly RenderedLayer[], reader: Reader) => AssembledPrompt {
  const known = new Map<LayerId, ComposedLayer[]>();
  const compose = (rendering: RenderedLayer, stable: boolean, reader: Reader): ComposedLayer => {
    const { layer, changes, output } = rendering;
    if (changes || !('text' in output) || !mayRead(reader, output.audience))
      return composeLayer(rendering, stable, reader);
    const before = known.get(layer) ?? [];
    const same = before.find((one) => isUnchangedLayer(one, output, stable));
    if (same !== undefined) return same;
    const made = composeLayer(rendering, stable, reader);
    known.set(layer, [made, ...before].slice(0, REMEMBERED));
    return made;
  };
  return (rendered, reader) => {
    const system: SystemPart[] = [];
    const userContext: UserPart[] = [];
    const report: LayerReport[] = [];
    let stable = true;
    for (const rendering of fenceUserText(rendered, reader, layout)) {
      const isSystem = rendering.placement === 'system';
      if (isSystem && 'text' in rendering.output) stable &&= !rendering.changes;
      const { line, part } = compose(rendering, isSystem && stable, reader);
      report.push(line);
      if (part !== null) (isSystem ? system : userContext).push(part);
    }
    const { name, userFence: fence } = layout;
    return { layout: name, system, userContext, report, ...(fence !== undefined && { fence }) };
  };
}

function isUnchangedLayer(
  { line, part }: ComposedLayer,
  output: LayerPart,
  stable: boolean,
): boolean {
  if (line.outcome !== 'present' || part === null || part.stable !== stable) return false;
  const { text, source, audience, cut = null } = output;
  return (
    part.text === text &&
    part.source === source &&
    isSameAudience(part.audience, audience) &&
    line.cut?.shown === cut?.shown &&
    line.cut?.total === cut?.total
  );
}

function isSameAudience(one: Audience, other: Audience): boolean {
  if (one.kind !== 'conversation' || other.kind !== 'conversation') return one.kind === other.kind;
  return one.conversationId === other.conversationId;
}

function composeLayer(
  { layer, placement, output }: RenderedLayer,
  stable: boolean,
  reader: Reader,
): ComposedLayer {
  if ('failed' in output) {
    const reason = reasonOf(output.failed);
    return { line: { layer, placement, outcome: 'failed', reason }, part: null };
  }
  if ('absent' in output) {
    return { line: { layer, placement, outcome: 'absent', reason: output.absent }, part: null };
  }
  const { text, source, audience, cut = null } = output;
  if (!mayRead(reader, audience)) {
    return { line: { layer, placement, outcome: 'withheld', source, audience }, part: null };
  }
  const tokens = estimateTokens(text);
  const size = { characters: text.length, tokens };
  return {
    line: { layer, placement, outcome: 'present', source, audience, ...size, cut },
    part: { text, source, audience, layer, stable, tokens },
  };
}

/**
 * Wraps Parley's text before a person's text, such as the context of a later message, in the
 * markers of the layout (P05). Without markers in the layout, the text is unchanged.
 */
export function fenceContext(text: string, fence: ContextFence | undefined): string {
  if (fence === undefined) return text;
  return [formatOpening(fence), neutralizeFences(text, fence), fence.close].join('\n\n');
}

/**
 * Puts the layout's fence around all text before the person's own, including the ephemeral prompt
 * (P05). Text inside the fence that looks like a fence line gets a different first bracket, so that
 * it cannot close the fence early (P18).
 */
function fenceUserText(
  renderings: readonly RenderedLayer[],
  reader: Reader,
  { userFence }: Layout,
): readonly RenderedLayer[] {
  if (userFence === undefined) return renderings;
  const shown = renderings.filter((rendering) => isVisibleToReader(rendering, reader));
  const first = shown[0];
  const last = shown.at(-1);
  if (first === undefined || last === undefined) return renderings;
  return renderings.flatMap((rendering) => [
    ...(rendering === first ? [createParleyLayer('context-begin', formatOpening(userFence))] : []),
    neutralizeLayer(rendering, userFence),
    ...(rendering === last ? [createParleyLayer('context-end', userFence.close)] : []),
  ]);
}

function isVisibleToReader({ placement, output }: RenderedLayer, reader: Reader): boolean {
  return placement === 'user' && 'text' in output && mayRead(reader, output.audience);
}

function formatOpening({ open, note }: ContextFence): string {
  return `${open}\n${note}`;
}

function createParleyLayer(layer: LayerId, text: string): RenderedLayer {
  const output = { text, source: 'Parley', audience: { kind: 'everyone' } } as const;
  return { layer, placement: 'user', changes: false, output };
}

function neutralizeLayer(rendering: RenderedLayer, fence: ContextFence): RenderedLayer {
  const { placement, output } = rendering;
  if (placement !== 'user' || !('text' in output)) return rendering;
  return { ...rendering, output: { ...output, text: neutralizeFences(output.text, fence) } };
}

function neutralizeFences(written: string, { open, close }: ContextFence): string {
  return [open, close].reduce(
    (text, line) =>
      text.replace(createCaseInsensitivePattern(line), (found) => `(${found.slice(1)}`),
    written,
  );
}

function createCaseInsensitivePattern(line: string): RegExp {
  return new RegExp(RegExp.escape(line), 'gi');
}

/**
 * Recorded parts, keyed by the system prompt part or tool list that they were made from. A later
 * request with the same key reuses the record.
 */
export type SentPartCache = WeakMap<object, SentPart>;

/**
 * The prompt as sent to the model, for the record (P17). The record follows the parts, not the
 * report: text removed by a later check is marked as withheld, and text added by a hook is included
 * although no layer reported it.
 */
export function toSentPrompt(
  { layout, system, userContext, report }: AssembledPrompt,
  known: SentPartCache = new WeakMap(),
): SentPrompt {
  const parts: SentPart[] = [];
  for (const part of system) {
    const before = known.get(part);
    const recorded = before ?? toSentPart(part, 'system', part.stable, report);
    if (before === undefined) known.set(part, recorded);
    parts.push(recorded);
  }
  for (const part of userContext) parts.push(toSentPart(part, 'user', false, report));
  const sent = new Set<string>();
  for (const { layer } of parts) sent.add(layer);
  const unsent: UnsentLayer[] = [];
  for (const line of report) {
    if (line.outcome === 'absent' || line.outcome === 'failed') unsent.push(line);
    // The part was present when the prompt was composed, but a later check removed it.
    else if (line.outcome === 'withheld' || !sent.has(line.layer))
      unsent.push(toWithheldLayer(line));
  }
  return { layout, parts, unsent };
}

function toSentPart(
  { layer, source, audience, text: written, tokens: estimated }: SystemPart | UserPart,
  placement: Placement,
  stable: boolean,
  report: readonly LayerReport[],
): SentPart {
  const line = report.find((candidate) => candidate.layer === layer);
  // The text as sent to the provider.
  const text = neutralizeTemplateTokens(written);
  const cut = line?.outcome === 'present' ? line.cut : null;
  const tokens = text === written ? estimated : estimateTokens(text);
  return { layer, placement, source, audience, stable, cut, tokens, text };
}

function toWithheldLayer({
  layer,
  placement,
  source,
  audience,
}: Extract<LayerReport, { outcome: 'present' | 'withheld' }>): UnsentLayer {
  return { layer, placement, outcome: 'withheld', source, audience };
}
