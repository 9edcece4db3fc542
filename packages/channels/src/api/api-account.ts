import { z } from 'zod';

/** Settings of the adapter, made from the section `api`, which is already checked. */
export const ApiAccount = z.strictObject({
  /** The default agent's name as a model. */
  agent: z.string(),
  waitMs: z.number(),
  /** Pages of these origins may call it. */
  origins: z.array(z.string()).default([]),
  clients: z.record(
    z.string(),
    z.strictObject({
      token: z.string(),
      /** Absent: the default agent. */
      agent: z.string().optional(),
      owner: z.boolean(),
      conversations: z.enum(['one', 'per-request']),
    }),
  ),
});
export type ApiAccount = z.infer<typeof ApiAccount>;
