import { resolve } from 'node:path';
import { countOf, systemTime } from '@parley/core';
import type { Cli } from '../../cli.ts';
import { readSettings } from '../../settings.ts';
import { abortOnSignal } from '../../terminal/interrupt.ts';
import { BackupError } from './archive.ts';
import { workspaceFolders } from './contents.ts';
import { makeBackup } from './make-backup.ts';

/**
 * `parley backup FILE`: reads the database by itself, so a running gateway is not disturbed. A signal ends
 * it with 130 and leaves no file; what a killed one left, the next backup or start removes.
 */
export async function backup({ folder, env, print }: Cli, name: string): Promise<number> {
  const loaded = readSettings(folder, env);
  if (loaded.settings.store.url !== undefined) throw new BackupError('backup-postgres', POSTGRES);
  const file = resolve(name);
  const ended = new AbortController();
  using interrupted = abortOnSignal(ended);
  const making = makeBackup({
    file,
    database: folder.storeUrl.slice('sqlite:'.length),
    settingsFile: folder.settingsFile,
    workspaces: workspaceFolders(loaded, folder.path),
    dataFolder: folder.path,
    clock: systemTime.clock,
    signal: ended.signal,
  });
  const done = await making.catch((error: unknown) => {
    if (interrupted.yes) return null;
    throw error;
  });
  if (done === null) {
    print(`The backup was interrupted; ${file} was not written.`);
    return 130;
  }
  const size = (done.bytes / 1_000_000).toFixed(1);
  print(`${file}: the database and ${countOf(done.files, 'file')}, ${size} MB.`);
  for (const path of done.leftOut) print(`Left out, since it is neither file nor folder: ${path}`);
  print(SECRETS);
  return 0;
}

const POSTGRES =
  'The database is in PostgreSQL, which "parley backup" does not copy. Nothing was written. Back it up with pg_dump, and the files of the data folder with tar: docs/backup.md has both commands.';

const SECRETS = `It holds everything that people wrote, the credentials of WhatsApp, and secrets that are in the settings as plain text.
Keep it where only you can read it. Variables and files that the settings refer to are not in it, nor is the token of the page.`;
