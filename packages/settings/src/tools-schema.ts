import { z } from 'zod';

/** Which tools the agent has, and the bounds of one call (G02). */
export const Tools = z
  .strictObject({
    allow: z.array(z.string().min(1)).optional().describe('Only these; without it all.'),
    block: z.array(z.string().min(1)).default([]).describe('Never these, even if allowed.'),
    maxSeconds: z
      .number()
      .positive()
      .max(3_600)
      .default(60)
      .describe('How long one call of a tool may take.'),
    maxCharacters: z
      .int()
      .min(500)
      .max(1_000_000)
      .default(20_000)
      .describe('What the model is shown of one result, in characters.'),
  })
  .prefault({})
  .describe('What the agent can do besides answering.');
