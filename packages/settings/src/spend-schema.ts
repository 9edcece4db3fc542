import { z } from 'zod';

const Cap = z.strictObject({
  tokens: z.int().positive().optional().describe('Tokens in and out together.'),
  usd: z
    .number()
    .positive()
    .optional()
    .describe('US dollars; holds only for models whose price is known.'),
});

/** How much of the models may be used in a day (G17). */
export const Spend = z
  .strictObject({
    perPersonDaily: Cap.optional().describe('What one person may use in a day, in all chats.'),
    perStrangerDaily: z
      .union([Cap, z.literal('off')])
      .optional()
      .describe(
        'What a person may use in a day whom only open access lets in. Without it perPersonDaily, or else 100,000 tokens and 1 US dollar; off: no cap.',
      ),
    perGroupDaily: Cap.optional().describe('What all people of a group may use there in a day.'),
    totalDaily: Cap.optional().describe('What everybody may use together, owners included.'),
    capOwners: z
      .boolean()
      .default(false)
      .describe('true: perPersonDaily and perGroupDaily hold for owners, too.'),
  })
  .prefault({})
  .describe('Bounds on tokens and money; a day ends at midnight in the time zone of the agent.');
export type Spend = z.infer<typeof Spend>;

/** What a stranger may use in a day where the settings say nothing: a long talk, not a bill. */
const DEFAULT_STRANGER_CAP = { tokens: 100_000, usd: 1 } as const;

/** The cap of strangers besides `perPersonDaily`, and whether the settings name it. */
export function strangerCap({
  perStrangerDaily,
  perPersonDaily,
}: Pick<Spend, 'perStrangerDaily' | 'perPersonDaily'>): {
  readonly cap: z.infer<typeof Cap> | null;
  readonly from: 'settings' | 'default';
} {
  if (perStrangerDaily === 'off') return { cap: null, from: 'settings' };
  if (perStrangerDaily !== undefined) return { cap: perStrangerDaily, from: 'settings' };
  if (perPersonDaily !== undefined) return { cap: perPersonDaily, from: 'settings' };
  return { cap: DEFAULT_STRANGER_CAP, from: 'default' };
}
