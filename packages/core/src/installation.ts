import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Defined by the build alone (`apps/parley/src/build`): this code runs from the bundle. */
declare const PARLEY_BUNDLE: true | undefined;

/** Whether this is the bundle in `dist/<hash>/`; else the sources run. */
export const isBundle = typeof PARLEY_BUNDLE !== 'undefined';

/** Defined by the build alone, too. */
declare const PARLEY_COMMIT: string | undefined;

/** The commit that the bundle was built from, with `+` for one with changes; empty where the build did not know. */
export const BUILT_FROM = typeof PARLEY_COMMIT === 'undefined' ? '' : PARLEY_COMMIT;

/** The folder of this installation. All modules of the bundle lie side by side in `dist/<hash>/`. */
export const INSTALLATION = new URL(isBundle ? '../../' : '../../../', import.meta.url);

/** The path of something in `config/`. */
export function configPath(name: string): string {
  return fileURLToPath(new URL(`config/${name}`, INSTALLATION));
}

/** The address of a module that is started or passed to others: `source`, or its form in the bundle. */
export function moduleUrl(name: string, source: URL): URL {
  return isBundle ? new URL(`./${name}.mjs`, import.meta.url) : source;
}

/** The kind of the installation: a clone with its sources, `npm i -g`, or a dependency of a project. */
export type InstallationKind = 'clone' | 'global' | 'project';

/** Reads the folders around the installation. */
export function installationKind(root: URL = INSTALLATION): InstallationKind {
  if (existsSync(new URL('apps/parley/src', root))) return 'clone';
  // <project>/node_modules/parley; the folder above npm's global `node_modules` has no package.json.
  return existsSync(new URL('../../package.json', root)) ? 'project' : 'global';
}
