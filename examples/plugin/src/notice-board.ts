import type { ChannelAdapter, ChannelContext, ChannelDefinition } from '@parley/plugins';
import { z } from 'zod';

const Settings = z.strictObject({
  title: z.string().min(1).default('Notices').describe('What stands above the board.'),
});

/** A board on the web server of Parley. What makes it work is loaded where it is configured. */
export const noticeBoard: ChannelDefinition = {
  id: 'board',
  settings: Settings,
  async load(): Promise<(context: ChannelContext<unknown>) => ChannelAdapter> {
    const { openBoard } = await import('./open-board.ts');
    return (context) => openBoard(context, Settings.parse(context.settings).title);
  },
};
