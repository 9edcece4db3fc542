import { DURABLE_POINTS } from '@parley/core';
import { z } from 'zod';

/**
 * The point at which a victim kills itself, and the number of passes before that, counted from now.
 */
export const VictimOrder = z.strictObject({
  point: z.enum(DURABLE_POINTS),
  nth: z.int().positive(),
});
export type VictimOrder = z.infer<typeof VictimOrder>;

/** The role of a victim in Parley's deployment. */
export const VictimRole = z.enum(['all', 'gateway', 'worker']);
export type VictimRole = z.infer<typeof VictimRole>;

/** The arguments with which a victim is started. */
export const VictimLife = z.strictObject({
  folder: z.string(),
  role: VictimRole,
  armed: VictimOrder.optional(),
});
export type VictimLife = z.infer<typeof VictimLife>;

/** A message from the harness to a victim; null cancels an order. */
export const Command = z.object({ command: VictimOrder.nullable() });

/** A message from a victim to the harness. */
export const VictimReport = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['ready', 'obeys']) }),
  /** An account waiting to be linked by scanning its code with a phone. */
  z.object({ kind: z.literal('pairing'), code: z.string() }),
  z.object({ kind: z.literal('connected'), channel: z.string() }),
]);
export type VictimReport = z.infer<typeof VictimReport>;
