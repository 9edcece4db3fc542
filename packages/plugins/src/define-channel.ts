import type { ChannelDefinition } from '@parley/channels';

/** Checks a channel's type against its settings, then erases it for lists of channels. */
export function defineChannel<Settings>(channel: ChannelDefinition<Settings>): ChannelDefinition {
  return {
    ...channel,
    async load() {
      const connect = await channel.load();
      // The channel receives its settings as validated by this schema.
      return (context) => connect({ ...context, settings: context.settings as Settings });
    },
  };
}
