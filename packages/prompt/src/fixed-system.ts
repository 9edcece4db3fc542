import { Audience, type Logger, reasonOf } from '@parley/core';
import { z } from 'zod';
import type { PromptContext } from './context.ts';
import { absent, type LayerId, type Rendering } from './layer.ts';
import { safetyLayer } from './layers/instructions.ts';

/** What a layer said in the first turn; `null` where it said nothing. */
const Kept = z.nullable(
  z.object({
    text: z.string(),
    source: z.string(),
    audience: Audience,
    cut: z.nullable(z.object({ shown: z.int(), total: z.int() })),
  }),
);
type Kept = z.infer<typeof Kept>;

const KeptLayers = z.record(z.string(), Kept);

/**
 * The system prompt of the session's first turn in place of this turn's (P05): files, tools and skills
 * may have changed since. Safety is never kept: it comes from the code each time (P12). Where nothing
 * can be kept, the turn continues with the present values, and the operator is notified.
 */
export async function fixSystem(
  renderings: readonly Rendering[],
  context: PromptContext,
  place: { readonly layout: string; readonly log: Logger },
): Promise<readonly Rendering[]> {
  if (context.fix === undefined) return renderings;
  const now = Object.fromEntries(
    renderings.filter(isFixed).map(({ layer, output }) => [layer, keep(output)]),
  );
  const key = `prompt:${place.layout}:${context.mode ?? 'full'}`;
  try {
    const kept = await context.fix(key, now, KeptLayers);
    return renderings.map((rendering) =>
      isFixed(rendering) ? asKept(rendering, kept) : rendering,
    );
  } catch (error) {
    place.log.error(
      { layout: place.layout, reason: reasonOf(error) },
      'the system prompt of the session could not be kept; this turn uses the present one',
    );
    return renderings;
  }
}

function isFixed({ layer, placement }: Rendering): boolean {
  return placement === 'system' && layer !== safetyLayer.id;
}

function keep(output: Rendering['output']): Kept {
  if (!('text' in output)) return null;
  const { text, source, audience, cut = null } = output;
  return { text, source, audience, cut };
}

function asKept(rendering: Rendering, kept: Readonly<Record<LayerId, Kept>>): Rendering {
  const first = kept[rendering.layer] ?? null;
  if (first !== null) return { ...rendering, output: first };
  if (!('text' in rendering.output)) return rendering;
  return { ...rendering, output: absent('it said nothing when the session began') };
}
