import { resolve } from 'node:path';
import { makeBackup } from '../backup/make-backup.ts';
import type { DataFolder } from '../data-folder.ts';
import { countOf, readSettings } from '../read-settings.ts';

/**
 * `parley backup FILE`: writes everything into one file. It reads the database by itself, so a gateway
 * that runs meanwhile goes on as ever.
 */
export async function backupCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  name: string,
  print: (text: string) => void,
): Promise<number> {
  const { settings } = readSettings(folder, env);
  const file = resolve(name);
  const done = await makeBackup({
    file,
    storeUrl: settings.store.url ?? folder.storeUrl,
    settingsFile: folder.settingsFile,
    workspace: settings.agent.workspace,
    dataFolder: folder.path,
    clock: Date.now,
  });
  const size = (done.bytes / 1_000_000).toFixed(1);
  print(`${file}: ${countOf(done.rows, 'row')} and ${countOf(done.files, 'file')}, ${size} MB.`);
  for (const path of done.leftOut) print(`Left out, since it is neither file nor folder: ${path}`);
  print(SECRETS);
  return 0;
}

const SECRETS = `It holds everything that people wrote, the credentials of WhatsApp, and what the settings say in the clear.
Keep it where only you can read it. Variables and files that the settings refer to are not in it, nor is the token of the page.`;
