import type { ChannelIds, RenderTarget } from '@parley/core';
import type { z } from 'zod';
import { adapterOf, offeredAdapters, packageOf, refusalOf, useOf } from './catalog.ts';
import type { Platform } from './platforms/platform.ts';
import { PLATFORMS, platformOf } from './platforms.ts';
import {
  AnyAdapterSettings,
  type ChatSdkSettings,
  chatSdkSettings,
  secretsFromEnvironment,
} from './settings.ts';
import { traitsOf } from './traits.ts';

/** What is known about an adapter without loading it. */
export interface AdapterFacts {
  readonly use: string;
  /** The name of its platform; `use` itself if the catalog does not have it. */
  readonly name: string;
  /** What to install, with the version that was tested, if any was. */
  readonly library: { readonly name: string; readonly version: string };
  readonly settings: z.ZodType<ChatSdkSettings>;
  /** Undefined for adapters that were not tested. */
  readonly ids: ChannelIds | undefined;
  readonly platform: Platform | undefined;
  /** The format of its texts, which is known before it is loaded. */
  readonly target: RenderTarget;
  /** Whether the catalog has it. */
  readonly isKnown: boolean;
  /** Why it cannot be a channel; absent if it can. */
  readonly refusal?: string;
  readonly secrets: readonly string[];
}

/**
 * Looks an adapter up. `env` is the environment of this process; without it, variables that may be
 * there are not missed.
 */
export function adapterFacts(
  use: string,
  env?: Readonly<Record<string, string | undefined>>,
): AdapterFacts {
  const platform = platformOf(use);
  const refusal = refusalOf(use);
  return {
    use,
    name: platform?.name ?? adapterOf(use)?.name ?? use,
    library: { name: packageOf(use), version: platform?.version ?? 'latest' },
    settings: chatSdkSettings(use, env),
    ids: platform?.ids,
    platform,
    target: traitsOf(use).target,
    isKnown: adapterOf(use) !== undefined,
    ...(refusal !== undefined && { refusal }),
    secrets: env === undefined ? [] : secretsFromEnvironment(use, env),
  };
}

/** The settings of a channel with any `use`, for the schema of the settings file. */
export const anyAdapterSettings = AnyAdapterSettings;

/** The words by which people may have meant an adapter, and its `use`. */
export function adapterNames(): ReadonlyMap<string, string> {
  const slugs = offeredAdapters().map((adapter) => [adapter.slug, useOf(adapter)] as const);
  const last = offeredAdapters().map((adapter) => {
    const use = useOf(adapter);
    return [use.slice(use.lastIndexOf('/') + 1), use] as const;
  });
  return new Map([
    ...last,
    ...slugs,
    ...PLATFORMS.map(({ channel, use }) => [channel, use] as const),
  ]);
}
