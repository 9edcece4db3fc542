import type { ChannelAdapter, ChannelContext, ChannelDefinition } from '@parley/plugins';
import { z } from 'zod';

const Settings = z.strictObject({
  title: z.string().min(1).default('Notices').describe('Title above the board.'),
});

/** A board on Parley's web server. Its code is loaded only if the channel is configured. */
export const noticeBoard: ChannelDefinition = {
  id: 'board',
  settings: Settings,
  async load(): Promise<(context: ChannelContext<unknown>) => ChannelAdapter> {
    const { openBoard } = await import('./open-board.ts');
    return (context) => openBoard(context, Settings.parse(context.settings).title);
  },
};
