import { z } from 'zod';

/** Platforms may deliver again what they delivered lately: until then a message must be known. */
const SHORTEST_DAYS = 3;

const days = (standard: number) =>
  z.union([z.number().min(SHORTEST_DAYS), z.literal('forever')]).default(standard);

/** `retention`: how long things are kept in the database (D15). */
export const Retention = z
  .strictObject({
    messageDays: days(90).describe(
      'Messages, answers, turns, approvals and runs: what /why, the page and "parley why" tell of. What is not answered, sent or settled yet stays. A number of days, or forever.',
    ),
    historyDays: days(365).describe(
      'What was said, as the model reads it again; memories and SOUL.md are kept whatever stands here.',
    ),
    decisionDays: days(30).describe('Why messages were not taken.'),
    spendDays: days(400).describe('What was used of models, by day and person.'),
    maxMegabytes: z
      .union([z.number().min(1), z.literal('unlimited')])
      .default(20_000)
      .describe(
        'Of the whole database. Beyond it the oldest is removed first, whatever its age; never what is younger than three days.',
      ),
    everyMinutes: z
      .number()
      .min(0.01)
      .max(24 * 60)
      .default(10)
      .describe('How often old rows are looked for.'),
  })
  .prefault({})
  .describe('How long things are kept. Recorded prompts have inspector.keepDays.');
export type Retention = z.infer<typeof Retention>;
