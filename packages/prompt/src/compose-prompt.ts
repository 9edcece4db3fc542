import { mayRead, type Reader, reasonOf } from '@parley/contracts';
import type { AssembledPrompt, LayerReport, SystemPart, UserPart } from './assembled-prompt.ts';
import { enforceAudience } from './enforce-audience.ts';
import { estimateTokens } from './estimate-tokens.ts';
import type { LayerId } from './layer.ts';
import type { Layout } from './layout.ts';
import type { Rendering } from './rendering.ts';
import { fenceUser } from './user-fence.ts';

/** About how many tokens the text of a layer costs. */
type Estimate = (layer: LayerId, text: string) => number;

/** Estimates, and remembers the last text of each layer: comparing costs less than counting or hashing. */
export function tokenMeter(): Estimate {
  const last = new Map<LayerId, { readonly text: string; readonly tokens: number }>();
  return (layer, text) => {
    const known = last.get(layer);
    if (known?.text === text) return known.tokens;
    const tokens = estimateTokens(text);
    last.set(layer, { text, tokens });
    return tokens;
  };
}

/** Puts what the layers gave in its place and says what became of each of them. */
export function composePrompt(
  rendered: readonly Rendering[],
  reader: Reader,
  { layout, tokens }: { readonly layout: Layout; readonly tokens: Estimate },
): AssembledPrompt {
  const renderings = fenceUser(rendered, reader, layout);
  return {
    layout: layout.name,
    system: enforceAudience(reader, systemParts(renderings, tokens)).allowed,
    userContext: enforceAudience(reader, userParts(renderings, tokens)).allowed,
    report: renderings.map((rendering) => reportOn(rendering, reader, tokens)),
  };
}

function systemParts(renderings: readonly Rendering[], tokens: Estimate): SystemPart[] {
  const parts: SystemPart[] = [];
  let stable = true;
  for (const { layer, placement, changes, output } of renderings) {
    if (placement !== 'system' || !('text' in output)) continue;
    const { text, source, audience } = output;
    stable &&= !changes;
    parts.push({ text, source, audience, layer, stable, tokens: tokens(layer, text) });
  }
  return parts;
}

function userParts(renderings: readonly Rendering[], tokens: Estimate): UserPart[] {
  const parts: UserPart[] = [];
  for (const { layer, placement, output } of renderings) {
    if (placement !== 'user' || !('text' in output)) continue;
    const { text, source, audience } = output;
    parts.push({ text, source, audience, layer, tokens: tokens(layer, text) });
  }
  return parts;
}

function reportOn(
  { layer, placement, output }: Rendering,
  reader: Reader,
  tokens: Estimate,
): LayerReport {
  const base = { layer, placement };
  if ('failed' in output) return { ...base, outcome: 'failed', reason: reasonOf(output.failed) };
  if ('absent' in output) return { ...base, outcome: 'absent', reason: output.absent };
  const { text, source, audience, cut = null } = output;
  if (!mayRead(reader, audience)) return { ...base, outcome: 'withheld', source, audience };
  const size = { characters: text.length, tokens: tokens(layer, text) };
  return { ...base, outcome: 'present', source, audience, ...size, cut };
}
