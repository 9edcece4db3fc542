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

/** Facts about an adapter that are available without loading it. */
export interface AdapterFacts {
  readonly use: string;
  /** The platform's name; the value of `use` if the catalog does not list the adapter. */
  readonly name: string;
  /** The npm package to install, with the tested version if there is one. */
  readonly library: { readonly name: string; readonly version: string };
  readonly settings: z.ZodType<ChatSdkSettings>;
  /** The platform's facts; undefined for adapters that Parley's tests do not cover. */
  readonly ids: ChannelIds | undefined;
  readonly platform: Platform | undefined;
  /** The text format, which is known before the adapter is loaded. */
  readonly target: RenderTarget;
  readonly isKnown: boolean;
  /** Why the adapter cannot be a channel; absent if it can. */
  readonly refusal?: string;
  readonly secrets: readonly string[];
}

/** `env` is the environment of this process; without it, missing variables are not reported. */
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

/** Names that people may write for an adapter, mapped to its `use`. */
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
