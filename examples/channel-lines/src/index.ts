import type { ChannelAdapter, ChannelContext, ChannelDefinition } from '@parley/channels';
import { LinesSettings } from './settings.ts';

/** A chat server that speaks lines of JSON. The code for it is loaded only where it is configured. */
export const lines = {
  id: 'lines',
  settings: LinesSettings,
  async load(): Promise<(context: ChannelContext<unknown>) => ChannelAdapter> {
    const { createLinesAdapter } = await import('./adapter.ts');
    return (context) =>
      createLinesAdapter({ ...context, settings: LinesSettings.parse(context.settings) });
  },
} satisfies ChannelDefinition;
