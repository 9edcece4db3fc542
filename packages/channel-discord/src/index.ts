import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelDefinition,
  type ChannelEnv,
  withOptionalLibrary,
} from '@parley/channels';
import { DISCORD_IDS } from './ids.ts';
import { DISCORD_MENU, DiscordSettings, MAX_TEXT } from './settings.ts';

/** Creates the adapter for one account; tests replace `env`. */
type ConnectDiscord = (context: ChannelContext<unknown>, env?: ChannelEnv) => ChannelAdapter;

/**
 * Defines the Discord channel, which connects bots through the gateway. Importing this module loads
 * only the settings schema; `load` loads discord.js.
 */
export const discord = withOptionalLibrary(
  {
    id: 'discord',
    settings: DiscordSettings,
    ids: DISCORD_IDS,
    menu: DISCORD_MENU,
    async probe(settings, env) {
      const { probeDiscord } = await import('./probe.ts');
      return probeDiscord(DiscordSettings.parse(settings), env);
    },
    async load(): Promise<ConnectDiscord> {
      const { createDiscordAdapter } = await import('./adapter.ts');
      return (context, env) => {
        const settings = DiscordSettings.parse(context.settings);
        return createDiscordAdapter({ ...context, settings }, env);
      };
    },
  } satisfies ChannelDefinition,
  {
    platform: 'Discord',
    name: 'discord.js',
    capabilities: {
      target: { dialect: 'discord', maxLength: MAX_TEXT, unit: 'utf16' },
      idempotentSend: true,
    },
  },
);
