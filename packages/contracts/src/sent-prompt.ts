import { z } from 'zod';
import { Audience } from './audience.ts';

/** Instructions, or data that stands before the person's own words. */
export const PromptPlacement = z.enum(['system', 'user']);
export type PromptPlacement = z.infer<typeof PromptPlacement>;

/** One piece of text that a model was given besides the conversation. */
export const SentPart = z.readonly(
  z.strictObject({
    /** Which layer (or hook) said it. */
    layer: z.string(),
    placement: PromptPlacement,
    source: z.string(),
    audience: Audience,
    /** Before the cache boundary: nothing up to here changes from turn to turn. */
    stable: z.boolean(),
    /** Set where the text is not the whole (P10). */
    cut: z.nullable(z.strictObject({ shown: z.int(), total: z.int() })),
    /** An estimate. */
    tokens: z.int(),
    text: z.string(),
  }),
);
export type SentPart = z.infer<typeof SentPart>;

const place = { layer: z.string(), placement: PromptPlacement };

/** A layer of the layout that the model was not given, and why. Holds no text of the layer. */
export const UnsentLayer = z.readonly(
  z.discriminatedUnion('outcome', [
    z.strictObject({ ...place, outcome: z.literal('absent'), reason: z.string() }),
    /** It offered what this reader may not see (W02). */
    z.strictObject({
      ...place,
      outcome: z.literal('withheld'),
      source: z.string(),
      audience: Audience,
    }),
    z.strictObject({ ...place, outcome: z.literal('failed'), reason: z.string() }),
  ]),
);
export type UnsentLayer = z.infer<typeof UnsentLayer>;

/** A prompt as it left for the model, with an account of what did not (P17). Parts are in order. */
export interface SentPrompt {
  readonly layout: string;
  readonly parts: readonly SentPart[];
  readonly unsent: readonly UnsentLayer[];
}
