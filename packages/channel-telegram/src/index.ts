import type { ChannelAdapter, ChannelContext, ChannelDefinition } from '@parley/channels';
import type { TelegramAmbience } from './poller.ts';
import { TelegramSettings } from './settings.ts';

export type { TelegramAmbience } from './poller.ts';

/** Makes the adapter of one account; chance and waiting can be given by tests. */
type ConnectTelegram = (
  context: ChannelContext<unknown>,
  ambience?: TelegramAmbience,
) => ChannelAdapter;

/** Telegram bots by long polling. Importing this costs the settings schema; telegraf comes with `load`. */
export const telegram = {
  id: 'telegram',
  settings: TelegramSettings,
  async load(): Promise<ConnectTelegram> {
    const { createTelegramAdapter } = await import('./adapter.ts');
    return (context, ambience) => {
      const settings = TelegramSettings.parse(context.settings);
      return createTelegramAdapter({ ...context, settings }, ambience);
    };
  },
} satisfies ChannelDefinition;
