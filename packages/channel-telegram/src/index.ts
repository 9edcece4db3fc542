import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelDefinition,
  type ChannelEnv,
  withOptionalLibrary,
} from '@parley/channels';
import { TELEGRAM_IDS } from './ids.ts';
import { MAX_TEXT, TELEGRAM_MENU, TelegramSettings } from './settings.ts';

/** Tests can pass their own randomness and delays. */
type ConnectTelegram = (context: ChannelContext<unknown>, env?: ChannelEnv) => ChannelAdapter;

const LIBRARY = 'telegraf';

/**
 * Defines the Telegram channel. Importing this module loads only the settings schema; telegraf is
 * loaded with the first poll.
 */
export const telegram = withOptionalLibrary(
  {
    id: 'telegram',
    settings: TelegramSettings,
    ids: TELEGRAM_IDS,
    menu: TELEGRAM_MENU,
    async probe(settings, env) {
      import.meta.resolve(LIBRARY);
      const { probeTelegram } = await import('./probe.ts');
      return probeTelegram(TelegramSettings.parse(settings), env);
    },
    async load(): Promise<ConnectTelegram> {
      // The adapter loads telegraf later, while its first poll is open; this check reports a
      // missing library immediately.
      import.meta.resolve(LIBRARY);
      const { createTelegramAdapter } = await import('./adapter.ts');
      return (context, env) => {
        const settings = TelegramSettings.parse(context.settings);
        return createTelegramAdapter({ ...context, settings }, env);
      };
    },
  } satisfies ChannelDefinition,
  {
    platform: 'Telegram',
    name: LIBRARY,
    capabilities: {
      target: { dialect: 'telegram', maxLength: MAX_TEXT, unit: 'utf16' },
      idempotentSend: false,
    },
  },
);
