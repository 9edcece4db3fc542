import type { ChannelAdapter, ChannelContext, ChannelDefinition } from '@parley/channels';
import { LinesSettings } from './settings.ts';

/**
 * A chat server that exchanges lines of JSON. Its code is loaded only if the channel is configured.
 */
export const lines = {
  id: 'lines',
  settings: LinesSettings,
  async load(): Promise<(context: ChannelContext<unknown>) => ChannelAdapter> {
    const { createLinesAdapter } = await import('./adapter.ts');
    return (context) =>
      createLinesAdapter({ ...context, settings: LinesSettings.parse(context.settings) });
  },
} satisfies ChannelDefinition;
