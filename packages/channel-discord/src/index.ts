import type { ChannelAdapter, ChannelContext, ChannelDefinition } from '@parley/channels';
import type { DiscordAmbience } from './ambience.ts';
import { DiscordSettings } from './settings.ts';

export type { DiscordAmbience } from './ambience.ts';

/** Makes the adapter of one account; chance and waiting can be given by tests. */
type ConnectDiscord = (
  context: ChannelContext<unknown>,
  ambience?: DiscordAmbience,
) => ChannelAdapter;

/** Discord bots through the gateway. Importing this costs the settings schema; discord.js comes with `load`. */
export const discord = {
  id: 'discord',
  settings: DiscordSettings,
  async load(): Promise<ConnectDiscord> {
    const { createDiscordAdapter } = await import('./adapter.ts');
    return (context, ambience) => {
      const settings = DiscordSettings.parse(context.settings);
      return createDiscordAdapter({ ...context, settings }, ambience);
    };
  },
} satisfies ChannelDefinition;
