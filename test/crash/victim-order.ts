import { DURABLE_POINTS } from '@parley/contracts';
import { z } from 'zod';

/** At which passing of which point, counted from now, a victim kills itself. */
export const Order = z.strictObject({ point: z.enum(DURABLE_POINTS), nth: z.int().positive() });
export type Order = z.infer<typeof Order>;

/** What a victim tells its harness. */
export const Report = z.enum(['ready', 'armed']);
export type Report = z.infer<typeof Report>;
