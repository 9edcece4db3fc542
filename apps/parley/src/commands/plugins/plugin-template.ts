import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getConfigPath } from '@parley/core/installation';

/** What a new plugin brings, and with it the name of its template. */
export type PluginKind = 'tool' | 'channel';

/** The form of a plugin's name; `loadPlugins` accepts no others. */
const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
/** Names of tools are limited to as many characters, too. */
const MAX_NAME = 64;

export interface TakenNames {
  readonly tools: readonly string[];
  readonly channels: readonly string[];
}

/** Why a plugin cannot have this name; null if it can. */
export function nameProblem(name: string, kind: PluginKind, taken: TakenNames): string | null {
  if (name.length > MAX_NAME || !NAME.test(name)) {
    return `${JSON.stringify(name)} cannot be the name of a plugin. Use lower-case letters, digits and single hyphens, at most ${MAX_NAME} characters, such as my-plugin.`;
  }
  // npm refuses a package that depends on one of its own name.
  if (name === 'parley') return 'A plugin cannot be called parley. Choose another name.';
  if (kind === 'channel' && taken.channels.includes(name)) {
    return `The channel ${name} belongs to Parley itself. Choose another name.`;
  }
  if (kind === 'tool' && taken.tools.includes(toolName(name))) {
    return `The tool ${toolName(name)} belongs to Parley itself. Choose another name.`;
  }
  return null;
}

const toolName = (name: string): string => name.replaceAll('-', '_');

export interface PluginPlaces {
  /** The folder of the installed Parley, for the link in package.json. */
  readonly parley: string;
  /** The plugin's folder as the settings name it. */
  readonly use: string;
}

/** The files of a new plugin, by name. */
export function pluginFiles(
  name: string,
  kind: PluginKind,
  { parley, use }: PluginPlaces,
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
