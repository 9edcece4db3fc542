import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelDefinition,
  type ChannelEnv,
  withOptionalLibrary,
} from '@parley/channels';
import { ChatSdkSettings } from './settings.ts';

/** Creates the adapter for one account. Tests can pass their own randomness and delays. */
type ConnectChatSdk = (context: ChannelContext<unknown>, env?: ChannelEnv) => ChannelAdapter;

/**
 * The channel `id`, which the Chat SDK adapter `use` connects: `chatSdkChannel('slack',
 * '@chat-adapter/slack')`. This loads only the settings schema; `load` loads the adapter and the
 * client library of its platform.
 */
export function chatSdkChannel(id: string, use: string): ChannelDefinition {
  return withOptionalLibrary(
    {
      id,
      settings: ChatSdkSettings,
      async load(): Promise<ConnectChatSdk> {
        throw new Error(`The channel ${id} cannot be loaded yet.`);
      },
    } satisfies ChannelDefinition,
    {
      platform: id,
      name: use,
      capabilities: {
        target: { dialect: 'plain', maxLength: 4_000, unit: 'utf16' },
        idempotentSend: false,
      },
    },
  );
}
