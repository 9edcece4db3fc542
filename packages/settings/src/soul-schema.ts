import { z } from 'zod';

/** How SOUL.md changes: proposals, their evaluation, and who decides (W06). */
export const Soul = z
  .strictObject({
    apply: z
      .enum(['after-veto-time', 'ask', 'never'])
      .default('after-veto-time')
      .describe(
        'When a proposal that passed its evaluation comes into use: vetoHours later unless an owner vetoes it, when an owner says /soul apply, or never.',
      ),
    vetoHours: z
      .number()
      .min(0)
      .max(24 * 30)
      .default(24)
      .describe('How long an owner can say no before it comes into use by itself.'),
    judge: z
      .union([z.boolean(), z.string().min(1)])
      .default(false)
      .describe(
        'true: the model tries the new text in some situations and judges its answers; the name of a model: that one of the same provider judges. false: fixed rules alone.',
      ),
  })
  .prefault({})
  .describe('Who the agent is (SOUL.md), and how that may change.');
