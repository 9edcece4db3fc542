import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getConfigPath } from '@parley/core/installation';

/** What a new plugin provides; also the name of its template. */
export type PluginKind = 'tool' | 'channel';

/** A plugin's name must match this pattern; `loadPlugins` rejects all others. */
const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
/** Tool names have the same length limit. */
const MAX_NAME = 64;

export interface TakenNames {
  readonly tools: readonly string[];
  readonly channels: readonly string[];
}

/** Returns why a plugin cannot have this name; null if the name is valid. */
export function findNameProblem(name: string, kind: PluginKind, taken: TakenNames): string | null {
  if (name.length > MAX_NAME || !NAME.test(name)) {
    return `${JSON.stringify(name)} is not a valid plugin name. Use lower-case letters, digits and single hyphens, at most ${MAX_NAME} characters, such as my-plugin.`;
  }
  // npm refuses a package that depends on a package with its own name.
  if (name === 'parley') return 'A plugin cannot be called parley. Choose another name.';
  if (kind === 'channel' && taken.channels.includes(name)) {
    return `The name ${name} is taken by one of Parley's own channels. Choose another name.`;
  }
  if (kind === 'tool' && taken.tools.includes(toolName(name))) {
    return `The name ${toolName(name)} is taken by one of Parley's own tools. Choose another name.`;
  }
  return null;
}

const toolName = (name: string): string => name.replaceAll('-', '_');

export interface PluginPaths {
  /** The folder of the installed Parley package, for the link in package.json. */
  readonly parley: string;
  /** The path of the plugin's folder as written in the settings. */
  readonly use: string;
}

/** Returns the files of a new plugin, keyed by name. */
export function createPluginFiles(
  name: string,
  kind: PluginKind,
  { parley, use }: PluginPaths,
): ReadonlyMap<string, string> {
  const folders = [kind, 'shared'].map((folder) => getConfigPath(`new-plugin/${folder}`));
  const files = folders.flatMap((folder) =>
    readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const),
  );
  const filled = files.map(([file, text]) => {
    const named = text.replaceAll('my-plugin', name).replaceAll('my_plugin', toolName(name));
    return [file, named.replaceAll('FOLDER', use).replaceAll('PARLEY', parley)] as const;
  });
  return new Map(filled);
}
