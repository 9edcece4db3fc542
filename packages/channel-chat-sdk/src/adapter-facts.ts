import type { ChannelIds, RenderTarget } from '@parley/core';
import type { z } from 'zod';
import {
  findCatalogAdapter,
  findRefusalReason,
  getPackageName,
  getUseSetting,
  listOfferedAdapters,
} from './catalog.ts';
import type { Platform } from './platforms/platform.ts';
import { findPlatform, PLATFORMS } from './platforms.ts';
import {
  AnyAdapterSettings,
  type ChatSdkSettings,
  createChatSdkSchema,
  listSecretsFromEnvironment,
} from './settings.ts';
import { getTraits } from './traits.ts';

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
export function getAdapterFacts(
  use: string,
  env?: Readonly<Record<string, string | undefined>>,
): AdapterFacts {
  const platform = findPlatform(use);
  const refusal = findRefusalReason(use);
  return {
    use,
    name: platform?.name ?? findCatalogAdapter(use)?.name ?? use,
    library: { name: getPackageName(use), version: platform?.version ?? 'latest' },
    settings: createChatSdkSchema(use, env),
    ids: platform?.ids,
    platform,
    target: getTraits(use).target,
    isKnown: findCatalogAdapter(use) !== undefined,
    ...(refusal !== undefined && { refusal }),
    secrets: env === undefined ? [] : listSecretsFromEnvironment(use, env),
  };
}

/** The settings of a channel with any `use`, for the schema of the settings file. */
export const anyAdapterSettings = AnyAdapterSettings;

/** Names that people may write for an adapter, mapped to its `use`. */
export function listAdapterNames(): ReadonlyMap<string, string> {
  const slugs = listOfferedAdapters().map(
    (adapter) => [adapter.slug, getUseSetting(adapter)] as const,
  );
  const last = listOfferedAdapters().map((adapter) => {
    const use = getUseSetting(adapter);
    return [use.slice(use.lastIndexOf('/') + 1), use] as const;
  });
  return new Map([
    ...last,
    ...slugs,
    ...PLATFORMS.map(({ channel, use }) => [channel, use] as const),
  ]);
}
