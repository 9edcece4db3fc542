import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelDefinition,
  type ChannelEnv,
  withOptionalLibrary,
} from '@parley/channels';
import { ChatSdkSettings } from './settings.ts';
import { traitsOf } from './traits.ts';

/** Creates the adapter for one account. Tests can pass their own randomness and delays. */
export type ConnectChatSdk = (context: ChannelContext<unknown>, env?: ChannelEnv) => ChannelAdapter;

/**
 * The channel `id`, which the Chat SDK adapter `use` connects: `chatSdkChannel('slack',
 * '@chat-adapter/slack')`. This loads only the settings schema; `load` loads the adapter and the
 * client library of its platform.
 */
export function chatSdkChannel(id: string, use: string) {
  const { platform, target } = traitsOf(use);
  return withOptionalLibrary(
    {
      id,
      settings: ChatSdkSettings,
      async load(): Promise<ConnectChatSdk> {
        const { loadFactory } = await import('./library.ts');
        const factory = await loadFactory(use);
        const { createChatSdkAdapter } = await import('./adapter.ts');
        return (context, env) => {
          const settings = ChatSdkSettings.parse(context.settings);
          return createChatSdkAdapter({ channel: id, use, factory }, { ...context, settings }, env);
        };
      },
    } satisfies ChannelDefinition,
    { platform, name: use, capabilities: { target, idempotentSend: false } },
  );
}
