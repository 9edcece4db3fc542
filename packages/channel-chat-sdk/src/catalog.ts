import {
  type CatalogAdapter,
  type EnvVar,
  listEnvVars,
  listPlatformAdapters,
  listStateAdapters,
} from 'chat/adapters';

/**
 * Platforms that Parley supports without an adapter; their adapters can be configured but are not
 * offered.
 */
const BUILT_IN: ReadonlySet<string> = new Set(['discord', 'telegram', 'web']);
/**
 * Gmail's adapter needs a host that renews its subscription every day, which Parley does not do.
 */
const NOT_HOSTED: ReadonlySet<string> = new Set(['gmail']);

/** The catalog entry of a Chat SDK adapter. */
export type { CatalogAdapter, EnvVar } from 'chat/adapters';

/** The adapters that Parley can offer: those for chat platforms that are not built in. */
export function offeredAdapters(): readonly CatalogAdapter[] {
  return listPlatformAdapters().filter(({ slug }) => !BUILT_IN.has(slug) && !NOT_HOSTED.has(slug));
}

export function useOf({ importPath, packageName }: CatalogAdapter): string {
  return importPath ?? packageName;
}

/** The adapter that `use` names; undefined if the catalog does not list it. */
export function adapterOf(use: string): CatalogAdapter | undefined {
  return listPlatformAdapters().find((adapter) => useOf(adapter) === use);
}

/** The package to install for `use`, which may name a module inside the package. */
export function packageOf(use: string): string {
  const [first = use, second] = use.split('/');
  return use.startsWith('@') ? `${first}/${second}` : first;
}

/** The name of the function that creates the adapter; undefined if the catalog does not list it. */
export function factoryOf(use: string): string | undefined {
  return adapterOf(use)?.factoryExport;
}

/** Why a package of the catalog cannot be a channel; undefined for all others. */
export function refusalOf(use: string): string | undefined {
  if (listStateAdapters().some(({ packageName }) => packageName === use))
    return 'the package of a platform; this one is a state store, but Parley keeps state in its own database';
  const slug = adapterOf(use)?.slug;
  if (slug === 'web')
    return 'the package of a platform; this one is a web chat, but Parley has its own web page, channels.web';
  if (slug !== undefined && NOT_HOSTED.has(slug))
    return 'the package of another platform; this one needs a daily renewal, which Parley does not do';
  return undefined;
}

/** The variables from which an adapter without options reads its settings. */
export function variablesOf(use: string): readonly EnvVar[] {
  const slug = adapterOf(use)?.slug;
  return slug === undefined ? [] : listEnvVars(slug);
}

/** Lists of variables; at least one list must be complete. */
export function waysOf(use: string): readonly (readonly EnvVar[])[] {
  const env = adapterOf(use)?.env;
  const required = env?.required ?? [];
  const modes = env?.credentialModes ?? [];
  if (modes.length === 0) return [required];
  return modes.map(({ vars }) => [...required, ...vars]);
}
