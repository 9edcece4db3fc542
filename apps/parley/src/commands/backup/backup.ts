import { resolve } from 'node:path';
import { pluralize, systemTime } from '@parley/core';
import type { CliContext } from '../../cli.ts';
import { readSettings } from '../../settings.ts';
import { abortOnSignal } from '../../terminal/interrupt.ts';
import { BackupError } from './archive.ts';
import { listWorkspaceFolders } from './contents.ts';
import { createBackup } from './make-backup.ts';

/**
 * `parley backup FILE`: reads the database directly, so it does not disturb a running gateway. A
 * signal ends the command with exit code 130 and without leaving a file behind. If the backup is
 * killed, the next backup or start removes its partial file.
 */
export async function runBackup({ folder, env, print }: CliContext, name: string): Promise<number> {
  const loaded = readSettings(folder, env);
  if (loaded.settings.store.url !== undefined) throw new BackupError('backup-postgres', POSTGRES);
  const file = resolve(name);
  const ended = new AbortController();
  using interrupted = abortOnSignal(ended);
  const making = createBackup({
    file,
    database: folder.storeUrl.slice('sqlite:'.length),
    settingsFile: folder.settingsFile,
    workspaces: listWorkspaceFolders(loaded, folder.path),
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
  print(`${file}: the database and ${pluralize(done.files, 'file')}, ${size} MB.`);
  for (const path of done.leftOut)
    print(`Left out because it is neither a file nor a folder: ${path}`);
  print(SECRETS);
  return 0;
}

const POSTGRES =
  'The database is in PostgreSQL, which "parley backup" does not copy. Nothing was written. Back up the database with pg_dump and the files in the data folder with tar: docs/backup.md has both commands.';

const SECRETS = `It contains everything that people wrote, the credentials of WhatsApp, and secrets that the settings hold as plain text.
Keep it where only you can read it. It contains neither the variables and files that the settings refer to nor the token of the page.`;
