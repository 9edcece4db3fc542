import { z } from 'zod';

/** Jobs with a timetable that people ask for in their chats (H08). */
export const Cron = z
  .strictObject({
    who: z
      .enum(['owners', 'everyone'])
      .default('owners')
      .describe(
        'Who may have the agent do things at certain times: owners in any chat, or everyone who may write there.',
      ),
    leastMinutes: z
      .int()
      .min(1)
      .max(24 * 60)
      .default(5)
      .describe('The shortest time between two runs of a job.'),
    perConversation: z.int().min(1).max(1_000).default(20).describe('Jobs of one conversation.'),
    total: z.int().min(1).max(10_000).default(200).describe('Jobs in all.'),
  })
  .prefault({})
  .describe('Jobs that run once, every so often or as a cron expression says.');
