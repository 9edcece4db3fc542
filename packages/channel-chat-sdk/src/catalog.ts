import {
  type CatalogAdapter,
  type EnvVar,
  listEnvVars,
  listPlatformAdapters,
  listStateAdapters,
} from 'chat/adapters';
import { github } from './platforms/github.ts';
import { googleChat } from './platforms/google-chat.ts';
import { linear } from './platforms/linear.ts';
import type { Platform } from './platforms/platform.ts';
import { slack } from './platforms/slack.ts';
import { teams } from './platforms/teams.ts';
import { whatsappCloud } from './platforms/whatsapp-cloud.ts';

export type { CatalogAdapter, EnvVar } from 'chat/adapters';

/** The adapters that Parley's tests cover. */
export const PLATFORMS: readonly Platform[] = [
  slack,
  teams,
  googleChat,
  github,
  linear,
  whatsappCloud,
];

/** The platform of a tested adapter; undefined for other adapters. */
export function findPlatform(use: string): Platform | undefined {
  return PLATFORMS.find((platform) => platform.use === use);
}

/**
 * Platforms that Parley supports without an adapter. Their adapters can be configured, but are not
 * offered.
 */
const BUILT_IN: ReadonlySet<string> = new Set(['discord', 'telegram', 'web']);
/**
 * Gmail's adapter needs a host that renews its subscription every day, which Parley does not do.
 */
const NOT_HOSTED: ReadonlySet<string> = new Set(['gmail']);

/**
 * The adapters that Parley can offer, which are those for chat platforms without built-in support.
 */
export function listOfferedAdapters(): readonly CatalogAdapter[] {
  return listPlatformAdapters().filter(({ slug }) => !BUILT_IN.has(slug) && !NOT_HOSTED.has(slug));
}

export function getUseSetting({ importPath, packageName }: CatalogAdapter): string {
  return importPath ?? packageName;
}

/** The adapter that `use` names; undefined if it is not in the catalog. */
export function findCatalogAdapter(use: string): CatalogAdapter | undefined {
  return listPlatformAdapters().find((adapter) => getUseSetting(adapter) === use);
}

/** Returns the package to install for `use`, which may name a module inside the package. */
export function getPackageName(use: string): string {
  const [first = use, second] = use.split('/');
  return use.startsWith('@') ? `${first}/${second}` : first;
}

/** The name of the function that creates the adapter; undefined if it is not in the catalog. */
export function findFactoryName(use: string): string | undefined {
  return findCatalogAdapter(use)?.factoryExport;
}

/** Why a package in the catalog cannot be a channel; undefined for all other packages. */
export function findRefusalReason(use: string): string | undefined {
  if (listStateAdapters().some(({ packageName }) => packageName === use))
    return 'the package of a platform; this one is a state store, but Parley keeps state in its own database';
  const slug = findCatalogAdapter(use)?.slug;
  if (slug === 'web')
    return 'the package of a platform; this one is a web chat, but Parley has its own web page, channels.web';
  if (slug !== undefined && NOT_HOSTED.has(slug))
    return 'the package of another platform; this one needs a daily renewal, which Parley does not do';
  return undefined;
}

/** The variables from which an adapter reads its settings if it has no options. */
export function listEnvVariables(use: string): readonly EnvVar[] {
  const slug = findCatalogAdapter(use)?.slug;
  return slug === undefined ? [] : listEnvVars(slug);
}

/** Lists of variables, at least one of which must be complete. */
export function listEnvVariableSets(use: string): readonly (readonly EnvVar[])[] {
  const env = findCatalogAdapter(use)?.env;
  const required = env?.required ?? [];
  const modes = env?.credentialModes ?? [];
  if (modes.length === 0) return [required];
  return modes.map(({ vars }) => [...required, ...vars]);
}
