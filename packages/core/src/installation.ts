import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Defined only by the build (`apps/parley/src/build`); if it is defined, this code runs from the
 * bundle.
 */
declare const PARLEY_BUNDLE: true | undefined;

/** Whether this code runs from the bundle in `dist/<hash>/` rather than from the sources. */
export const isBundle = typeof PARLEY_BUNDLE !== 'undefined';

/** Defined only by the build. */
declare const PARLEY_COMMIT: string | undefined;

/**
 * The commit from which the bundle was built, followed by `+` if it had local changes; empty if the
 * build did not know the commit.
 */
export const BUILT_FROM = typeof PARLEY_COMMIT === 'undefined' ? '' : PARLEY_COMMIT;

/** All modules of the bundle are in the same folder, `dist/<hash>/`. */
export const INSTALLATION = new URL(isBundle ? '../../' : '../../../', import.meta.url);

/**
 * The installation whose launcher started this one: that which npm installed, if `parley upgrade`
 * has put this one below its `releases/`. Services and shells start the launcher.
 */
export function findLauncherRoot(root: URL = INSTALLATION): URL {
  const above = new URL('../../../', root);
  const isRelease = /\/releases\/[^/]+\/parley\/$/.test(root.pathname);
  return isRelease && existsSync(new URL('apps/parley/bin/parley.js', above)) ? above : root;
}

export function getConfigPath(name: string): string {
  return fileURLToPath(new URL(`config/${name}`, INSTALLATION));
}

/**
 * Returns the URL of a module that is started or passed on: `source`, or its counterpart in the
 * bundle.
 */
export function resolveModuleUrl(name: string, source: URL): URL {
  return isBundle ? new URL(`./${name}.mjs`, import.meta.url) : source;
}

/** The kind of installation: a clone with its sources, `npm i -g`, or a dependency of a project. */
export type InstallationKind = 'clone' | 'global' | 'project';

/** Determines the kind from the folders around the installation. */
export function detectInstallationKind(root: URL = findLauncherRoot()): InstallationKind {
  if (existsSync(new URL('apps/parley/src', root))) return 'clone';
  // In a project this is <project>/node_modules/parley; the folder above npm's global
  // `node_modules` has no package.json.
  return existsSync(new URL('../../package.json', root)) ? 'project' : 'global';
}
