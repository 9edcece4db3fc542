import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { RenderTarget } from '@parley/core';
import { formatInstallCommand } from '@parley/core/install-line';
import type { z } from 'zod';
import {
  findCatalogAdapter,
  findPlatform,
  findRefusalReason,
  getPackageName,
  getUseSetting,
  listOfferedAdapters,
  PLATFORMS,
} from './catalog.ts';
import type { Platform } from './platforms/platform.ts';
import {
  type ChatSdkSettings,
  createChatSdkSchema,
  type EnvVariables,
  listSecretsFromEnvironment,
} from './settings.ts';
import { getTraits } from './traits.ts';

export { AnyAdapterSettings } from './settings.ts';

const require = createRequire(import.meta.url);

/** What is known about an adapter without loading it. */
export interface AdapterInfo {
  readonly use: string;
  /** The platform's name, or the value of `use` if the adapter is not in the catalog. */
  readonly name: string;
  /** The npm package to install, including the tested version if there is one. */
  readonly library: { readonly name: string; readonly version: string };
  readonly settings: z.ZodType<ChatSdkSettings>;
  /** The description of the platform; undefined for adapters that Parley's tests do not cover. */
  readonly platform: Platform | undefined;
  /** The text format, which must be known before the adapter is loaded. */
  readonly target: RenderTarget;
  readonly isKnown: boolean;
  /** Why the adapter cannot be a channel; absent if it can. */
  readonly refusal?: string;
  readonly secrets: readonly string[];
}

/** `env` is the environment of this process; without it, missing variables are not reported. */
export function getAdapterInfo(use: string, env?: EnvVariables): AdapterInfo {
  const platform = findPlatform(use);
  const refusal = findRefusalReason(use);
  return {
    use,
    name: platform?.name ?? findCatalogAdapter(use)?.name ?? use,
    library: getLibrary(use),
    settings: createChatSdkSchema(use, env),
    platform,
    target: getTraits(use).target,
    isKnown: findCatalogAdapter(use) !== undefined,
    ...(refusal !== undefined && { refusal }),
    secrets: env === undefined ? [] : listSecretsFromEnvironment(use, env),
  };
}

/**
 * The command that installs an adapter. It is undefined if the adapter is already installed, that
 * is, if its package is in one of the folders that Node searches. The package is not loaded for
 * this check, because loading takes as long as starting the channel.
 */
export function findInstallCommand(use: string): string | undefined {
  const { name, version } = getLibrary(use);
  const folders = require.resolve.paths(name) ?? [];
  const isInstalled = folders.some((folder) => existsSync(join(folder, name, 'package.json')));
  return isInstalled ? undefined : formatInstallCommand([`${name}@${version}`]);
}

function getLibrary(use: string): AdapterInfo['library'] {
  return { name: getPackageName(use), version: findPlatform(use)?.version ?? 'latest' };
}

/** Names that people may write for an adapter, mapped to its `use`. */
export function listAdapterNames(): ReadonlyMap<string, string> {
  const slugs = listOfferedAdapters().map(
    (adapter) => [adapter.slug, getUseSetting(adapter)] as const,
  );
  const last = listOfferedAdapters().flatMap((adapter) => {
    const use = getUseSetting(adapter);
    const name = use.slice(use.lastIndexOf('/') + 1);
    // Without this limit, `@kapso/chat-adapter` would be suggested for every package with a similar
    // name.
    return name === 'chat-adapter' ? [] : [[name, use] as const];
  });
  return new Map([
    ...last,
    ...slugs,
    ...PLATFORMS.map(({ channel, use }) => [channel, use] as const),
  ]);
}
