import { z } from 'zod';

/** `limits`: what is taken, what may wait and what a turn may use (D07, G01). */
export const Limits = z
  .strictObject({
    messageCharacters: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(32_000)
      .describe('Longest message that is taken, in characters.'),
    turnSteps: z
      .int()
      .min(1)
      .max(200)
      .default(20)
      .describe('How often the model is asked in one turn; the last time it has to answer.'),
    turnMinutes: z
      .number()
      .positive()
      .max(60)
      .default(10)
      .describe('After this the model is asked for its answer once more.'),
    turnTokens: z
      .int()
      .positive()
      .default(1_000_000)
      .describe('The same, of all steps of a turn together.'),
    waitingPerConversation: z
      .int()
      .min(1)
      .max(10_000)
      .default(50)
      .describe('Messages that may wait in one conversation.'),
    waitingInAll: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(50_000)
      .describe('Messages that may wait in all conversations together.'),
  })
  .prefault({})
  .describe('Bounds; what exceeds them is refused and told.');
