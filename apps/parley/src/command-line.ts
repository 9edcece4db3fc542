import { type DataFolder, defaultDataFolder } from './data-folder.ts';

/**
 * A command as a person types it in the folder that Parley was installed in; `--data` is repeated
 * where the data folder is not the one that would be found without it.
 */
export function commandLine(command: string, folder: Pick<DataFolder, 'path'>): string {
  const data = folder.path === defaultDataFolder() ? '' : ` --data ${quoted(folder.path)}`;
  return `npm run parley -- ${command}${data}`;
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
