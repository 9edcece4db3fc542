import {
  type SentPart,
  type SentPrompt,
  type UnsentLayer,
  withoutTemplateTokens,
} from '@parley/contracts';
import type { AssembledPrompt, LayerReport, SystemPart, UserPart } from '../assembled-prompt.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import type { Placement } from '../layer.ts';

/**
 * What leaves for the model, for the record (P17). The parts decide, not the report: what a later
 * check took out is told as withheld, and what a hook added is there although no layer reported it.
 */
export function sentPromptOf(prompt: AssembledPrompt): SentPrompt {
  const { layout, system, userContext, report } = prompt;
  const parts = [
    ...system.map((part) => sentPart(part, 'system', part.stable, report)),
    ...userContext.map((part) => sentPart(part, 'user', false, report)),
  ];
  const sent = new Set(parts.map(({ layer }) => layer));
  return { layout, parts, unsent: report.flatMap((line) => unsent(line, sent)) };
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

function unsent(line: LayerReport, sent: ReadonlySet<string>): readonly UnsentLayer[] {
  const { layer, placement } = line;
  switch (line.outcome) {
    case 'absent':
    case 'failed':
      return [{ layer, placement, outcome: line.outcome, reason: line.reason }];
    case 'withheld':
      return [withheld(line)];
    case 'present':
      // It was there when the layers were put together.
      return sent.has(layer) ? [] : [withheld(line)];
  }
}

function withheld({
  layer,
  placement,
  source,
  audience,
}: Extract<LayerReport, { outcome: 'present' | 'withheld' }>): UnsentLayer {
  return { layer, placement, outcome: 'withheld', source, audience };
}
