import { BusyPolicy } from '@parley/contracts';
import { z } from 'zod';

/** `lanes`: what becomes of messages that come faster than answers (D03). */
export const Lanes = z
  .strictObject({
    busy: BusyPolicy.default('collect').describe(
      'Messages during a turn. collect: answered together afterwards; followup: one by one; steer: join the running turn at its next step; interrupt: end it and are answered with what it was about. Or one of these per kind of chat: { direct: steer, group: collect }.',
    ),
    collectPauseMs: z
      .int()
      .min(0)
      .max(60_000)
      .default(500)
      .describe('How long to wait for more of a burst, in milliseconds.'),
    concurrency: z
      .int()
      .min(1)
      .max(2_000)
      .default(200)
      .describe(
        'Turns that one worker runs at the same time, each of another conversation; they mostly wait for models.',
      ),
  })
  .prefault({})
  .describe('What happens when messages arrive faster than answers.');
