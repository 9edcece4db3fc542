import type { ChannelDefinition } from '@parley/channels';
import { TelegramSettings } from './settings.ts';

/** Telegram bots by long polling. Importing this costs the settings schema; telegraf comes with `load`. */
export const telegram: ChannelDefinition = {
  id: 'telegram',
  settings: TelegramSettings,
  async load() {
    const { createTelegramAdapter } = await import('./adapter.ts');
    return (context) =>
      createTelegramAdapter({ ...context, settings: TelegramSettings.parse(context.settings) });
  },
};
