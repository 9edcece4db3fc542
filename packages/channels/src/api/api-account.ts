import { z } from 'zod';

/** Settings of the adapter, derived from the validated `api` section. */
export const ApiAccount = z.strictObject({
  /** The default agent's name as a model. */
  agent: z.string(),
  waitMs: z.number(),
  /** Origins whose pages may call the API. */
  origins: z.array(z.string()).default([]),
  clients: z.record(
    z.string(),
    z.strictObject({
      token: z.string(),
      /** The default agent when absent. */
      agent: z.string().optional(),
      owner: z.boolean(),
      conversations: z.enum(['one', 'per-request']),
    }),
  ),
});
export type ApiAccount = z.infer<typeof ApiAccount>;
