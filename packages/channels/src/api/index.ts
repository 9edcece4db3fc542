import { z } from 'zod';
import type { ChannelAdapter, ChannelContext, ChannelDefinition } from '../adapter.ts';

/** What the adapter works with; made of the section `api` of the settings, which has checked it. */
export const ApiAccount = z.strictObject({
  /** The default agent's name as a model. */
  agent: z.string(),
  waitMs: z.number(),
  /** Pages of these may call it. */
  origins: z.array(z.string()).default([]),
  clients: z.record(
    z.string(),
    z.strictObject({
      token: z.string(),
      /** Another one of several agents. */
      agent: z.string().optional(),
      owner: z.boolean(),
      conversations: z.enum(['one', 'per-request']),
    }),
  ),
});
export type ApiAccount = z.infer<typeof ApiAccount>;

/** Programs that talk to the agent as to a model of OpenAI. No platform: its clients call the gateway itself. */
export const api = {
  id: 'api',
  settings: ApiAccount,
  servedByAll: true,
  async load(): Promise<(context: ChannelContext<unknown>) => ChannelAdapter> {
    const { createApiAdapter } = await import('./adapter.ts');
    return (context) =>
      createApiAdapter({ ...context, settings: ApiAccount.parse(context.settings) });
  },
} satisfies ChannelDefinition;
