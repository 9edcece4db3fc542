import type {
  ChannelAdapter,
  ChannelContext,
  ChannelDefinition,
  ChannelEnv,
} from '@parley/channels';
import { TelegramSettings } from './settings.ts';

/** Makes the adapter of one account; chance and waiting can be given by tests. */
type ConnectTelegram = (context: ChannelContext<unknown>, env?: ChannelEnv) => ChannelAdapter;

/** Telegram bots by long polling. Importing this costs the settings schema; telegraf comes with `load`. */
export const telegram = {
  id: 'telegram',
  settings: TelegramSettings,
  async probe(settings, env) {
    const { probeTelegram } = await import('./api.ts');
    return probeTelegram(TelegramSettings.parse(settings), env);
  },
  async load(): Promise<ConnectTelegram> {
    const { createTelegramAdapter } = await import('./adapter.ts');
    return (context, env) => {
      const settings = TelegramSettings.parse(context.settings);
      return createTelegramAdapter({ ...context, settings }, env);
    };
  },
} satisfies ChannelDefinition;
