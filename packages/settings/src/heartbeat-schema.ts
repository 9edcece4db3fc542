import { z } from 'zod';

const TIME = String.raw`(?:[01]?\d|2[0-3]):[0-5]\d`;

/** When the agent looks after its standing tasks by itself, and how it tells of them (H01–H05). */
export const Heartbeat = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'false: never. Without tasks in HEARTBEAT.md nothing is asked of the model anyway.',
      ),
    everyMinutes: z
      .int()
      .min(5)
      .max(24 * 60)
      .default(30)
      .describe('How often it looks which task is due. At least 5.'),
    tell: z
      .string()
      .regex(/^(last|[a-z][a-z0-9-]*:\S+)$/, 'last, or an owner such as telegram:123456789')
      .default('last')
      .describe(
        'Whose direct chat alerts go to: that of an owner (channel:userId), or last, the one in which an owner wrote last.',
      ),
    quietHours: z
      .string()
      .regex(new RegExp(`^(off|${TIME}-${TIME})$`), 'off, or from-to such as 22:00-07:00')
      .default('22:00-07:00')
      .describe('Alerts wait until these are over, in the time zone of the agent.'),
    repeatHours: z
      .number()
      .min(0)
      .max(24 * 30)
      .default(24)
      .describe('The same alert is not told again within these hours.'),
    tokensPerDay: z
      .int()
      .positive()
      .default(250_000)
      .describe('What all runs of a day may use together, in tokens; then the rest waits.'),
    steps: z.int().min(1).max(50).default(10).describe('How often the model is asked in one run.'),
  })
  .prefault({})
  .describe('Standing tasks of HEARTBEAT.md, looked after between messages.');
export type Heartbeat = z.infer<typeof Heartbeat>;
