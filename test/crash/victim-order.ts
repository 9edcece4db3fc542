import { DURABLE_POINTS } from '@parley/core';
import { z } from 'zod';

/** At which passing of which point, counted from now, a victim kills itself. */
export const Order = z.strictObject({ point: z.enum(DURABLE_POINTS), nth: z.int().positive() });
export type Order = z.infer<typeof Order>;

/** Which part of Parley a victim is. */
export const Role = z.enum(['all', 'gateway', 'worker']);
export type Role = z.infer<typeof Role>;

/** How a victim begins its life. */
export const Life = z.strictObject({
  folder: z.string(),
  role: Role,
  armed: Order.optional(),
});
export type Life = z.infer<typeof Life>;

/** What a harness tells a victim; null takes an order back. */
export const Command = z.object({ command: Order.nullable() });

/** What a victim tells its harness. */
export const Report = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['ready', 'obeys']) }),
  /** An account waits to be linked: a phone has to scan this. */
  z.object({ kind: z.literal('pairing'), code: z.string() }),
  z.object({ kind: z.literal('connected'), channel: z.string() }),
]);
export type Report = z.infer<typeof Report>;
