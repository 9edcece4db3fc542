import { z } from 'zod';

/**
 * What a step of a turn tells of itself for people (D08): names, numbers and outcomes, never words of
 * people, arguments or results. Times in ms.
 */
export const StepFacts = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('model'),
    /** Who answered, as `provider/model`. */
    model: z.string(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    /** From the request until the first piece of the answer. */
    firstTokenMs: z.number().optional(),
    /** The model that was asked first, where another one has answered. */
    insteadOf: z.string().optional(),
    /** Times it was asked, where that was more than once. */
    asked: z.number().optional(),
    /** The tools it asked for, by name. */
    calls: z.array(z.string()).readonly(),
  }),
  z.object({
    kind: z.literal('tool'),
    tool: z.string(),
    outcome: z.enum(['done', 'failed', 'not-run']),
  }),
]);
export type StepFacts = z.infer<typeof StepFacts>;
