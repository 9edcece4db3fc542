import { DURABLE_POINTS } from '@parley/core';
import { z } from 'zod';

/**
 * The point at which a victim kills itself, and the number of passes before that, counted from now.
 */
export const Order = z.strictObject({ point: z.enum(DURABLE_POINTS), nth: z.int().positive() });
export type Order = z.infer<typeof Order>;

/** The role of a victim in Parley's deployment. */
export const Role = z.enum(['all', 'gateway', 'worker']);
export type Role = z.infer<typeof Role>;

/** The arguments with which a victim is started. */
export const Life = z.strictObject({
  folder: z.string(),
  role: Role,
  armed: Order.optional(),
});
export type Life = z.infer<typeof Life>;

/** A message from the harness to a victim; null cancels an order. */
export const Command = z.object({ command: Order.nullable() });

/** A message from a victim to the harness. */
export const Report = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['ready', 'obeys']) }),
  /** An account waiting to be linked by scanning its code with a phone. */
  z.object({ kind: z.literal('pairing'), code: z.string() }),
  z.object({ kind: z.literal('connected'), channel: z.string() }),
]);
export type Report = z.infer<typeof Report>;
