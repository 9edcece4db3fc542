import type { JournalStep } from '@parley/store';
import { z } from 'zod';

/** What asking the model has used. */
export const StepUsage = z.object({
  model: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number().nullable(),
});
export type StepUsage = z.infer<typeof StepUsage>;

/** Of several steps, at least one; the money is known only where that of each is. */
export function totalUsage(usages: readonly StepUsage[]): StepUsage {
  return usages.reduce((sum, one) => ({
    model: one.model,
    inputTokens: sum.inputTokens + one.inputTokens,
    outputTokens: sum.outputTokens + one.outputTokens,
    costUsd: sum.costUsd === null || one.costUsd === null ? null : sum.costUsd + one.costUsd,
  }));
}

/** The last step of a turn: the model's answer (G16). A chat's is stored by its commit, others before. */
export const FinalStep = z.object({
  kind: z.literal('answer'),
  text: z.string(),
  /** Of all steps together. */
  usage: StepUsage,
});
export type FinalStep = z.infer<typeof FinalStep>;

/** The answer a crashed run had already got, or null: then the model has to be asked. */
export function answeredBefore(steps: readonly JournalStep[]): FinalStep | null {
  for (const step of steps) {
    const parsed = FinalStep.safeParse(step.content);
    if (parsed.success) return parsed.data;
  }
  return null;
}
