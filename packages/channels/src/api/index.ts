import type { ChannelAdapter, ChannelContext, ChannelDefinition } from '../adapter.ts';
import { ApiAccount } from './api-account.ts';

/**
 * Lets programs talk to the agent as if it were an OpenAI model. Clients call the gateway directly,
 * so there is no platform to connect to.
 */
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
