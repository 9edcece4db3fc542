import { createRequire } from 'node:module';
import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelDefinition,
  type ChannelEnv,
  withOptionalLibrary,
} from '@parley/channels';
import type { Block, HostedChannels } from '@parley/settings';
import type * as Facts from './adapter-facts.ts';
import type * as Hosted from './find-hosted.ts';

const require = createRequire(import.meta.url);

/** Tests can pass their own random values and delays. */
export type ConnectChatSdk = (context: ChannelContext<unknown>, env?: ChannelEnv) => ChannelAdapter;

/**
 * The adapter catalog and the platform descriptions. The first channel with `use` loads them, so
 * that other starts do not have this cost.
 */
export function loadAdapterCatalog(): typeof Facts {
  return require('./adapter-facts.ts');
}

/** Returns undefined without loading the catalog if no channel has `use`. */
export function findHostedChannels(
  ...[sections, own, deps]: Parameters<typeof Hosted.resolveHostedChannels>
): HostedChannels | undefined {
  const isHosted = (section: unknown): boolean => Object.hasOwn(Object(section), 'use');
  if (!Object.values<unknown>(sections satisfies Block).some(isHosted)) return undefined;
  return (require('./find-hosted.ts') as typeof Hosted).resolveHostedChannels(sections, own, deps);
}

/**
 * Defines the channel `id` with the Chat SDK adapter `use`: `createChatSdkChannel('slack',
 * '@chat-adapter/slack')`. This loads only the description of the adapter; `load` loads the adapter
 * and the platform's client library.
 */
export function createChatSdkChannel(id: string, use: string) {
  const { name, library, settings, platform, target } = loadAdapterCatalog().getAdapterInfo(use);
  return withOptionalLibrary(
    {
      id,
      hosts: use,
      settings,
      ...(platform !== undefined && { ids: platform.ids }),
      ...(platform?.answersStrangers === false && { answersStrangers: false }),
      async probe(given, env) {
        import.meta.resolve(use);
        const { probePlatform } = await import('./probe.ts');
        return probePlatform({ use, name, options: settings.parse(given).options }, env);
      },
      async load(): Promise<ConnectChatSdk> {
        const { loadFactory } = await import('./library.ts');
        const factory = await loadFactory(use);
        const { createChatSdkAdapter } = await import('./adapter.ts');
        return (context, env) => {
          const given = settings.parse(context.settings);
          const hosted = { channel: id, use, name, factory };
          return createChatSdkAdapter(hosted, { ...context, settings: given }, env);
        };
      },
    } satisfies ChannelDefinition,
    { platform: name, ...library, capabilities: { target, idempotentSend: false } },
  );
}
