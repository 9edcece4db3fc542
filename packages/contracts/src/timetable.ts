import { z } from 'zod';

/**
 * When a job is due (H08): once, every so many ms counted from a moment, or as a cron expression of
 * five fields says, in a time zone. Times in ms since 1970.
 */
export const Timetable = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('once'), at: z.int().nonnegative() }),
  z.strictObject({
    kind: z.literal('every'),
    ms: z.int().positive(),
    from: z.int().nonnegative(),
  }),
  z.strictObject({ kind: z.literal('cron'), expression: z.string(), timeZone: z.string() }),
]);
export type Timetable = z.infer<typeof Timetable>;
