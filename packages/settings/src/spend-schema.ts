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
