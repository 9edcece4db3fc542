import {
  type SentPart,
  type SentPrompt,
  type UnsentLayer,
  withoutTemplateTokens,
} from '@parley/core';
import { estimateTokens } from '@parley/workspace';
import type { AssembledPrompt, LayerReport, SystemPart, UserPart } from './assembled-prompt.ts';
import type { Placement } from './layer.ts';

/** Parts of system prompts as they were recorded; the same part of a later prompt is the same record. */
export type SentParts = WeakMap<SystemPart, SentPart>;

/**
 * What leaves for the model, for the record (P17). The parts decide, not the report: what a later
 * check took out is reported as withheld, and what a hook added is there although no layer reported it.
 */
export function sentPromptOf(
  { layout, system, userContext, report }: AssembledPrompt,
  known: SentParts = new WeakMap(),
): SentPrompt {
  const parts: SentPart[] = [];
  for (const part of system) {
    const before = known.get(part);
    const recorded = before ?? sentPart(part, 'system', part.stable, report);
    if (before === undefined) known.set(part, recorded);
    parts.push(recorded);
  }
  for (const part of userContext) parts.push(sentPart(part, 'user', false, report));
  const sent = new Set<string>();
  for (const { layer } of parts) sent.add(layer);
  const unsent: UnsentLayer[] = [];
  for (const line of report) {
    if (line.outcome === 'absent' || line.outcome === 'failed') unsent.push(line);
    // What is not sent was there when the layers were put together.
    else if (line.outcome === 'withheld' || !sent.has(line.layer)) unsent.push(withheld(line));
  }
  return { layout, parts, unsent };
}

function sentPart(
  { layer, source, audience, text: written, tokens: estimated }: SystemPart | UserPart,
  placement: Placement,
  stable: boolean,
  report: readonly LayerReport[],
): SentPart {
  const line = report.find((candidate) => candidate.layer === layer);
  // As the provider is given it.
  const text = withoutTemplateTokens(written);
  const cut = line?.outcome === 'present' ? line.cut : null;
  const tokens = text === written ? estimated : estimateTokens(text);
  return { layer, placement, source, audience, stable, cut, tokens, text };
}

function withheld({
  layer,
  placement,
  source,
  audience,
}: Extract<LayerReport, { outcome: 'present' | 'withheld' }>): UnsentLayer {
  return { layer, placement, outcome: 'withheld', source, audience };
}
