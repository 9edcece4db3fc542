import { openStore } from '@parley/store';
import { CliError } from '../cli-error.ts';
import type { DataFolder } from '../data-folder.ts';
import { readSettings } from '../read-settings.ts';
import { approvalsText } from './approvals-text.ts';

/** `parley approvals`: who was asked what, who decided and what came of it. Needs no running gateway. */
export async function approvalsCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  last: string,
  print: (text: string) => void,
): Promise<number> {
  const limit = Number(last);
  if (!Number.isInteger(limit) || limit < 1) {
    throw new CliError('usage', `--last takes a number from 1 on, not ${JSON.stringify(last)}.`);
  }
  const { settings } = readSettings(folder, env);
  const store = await openStore({ url: settings.store.url ?? folder.storeUrl, clock: Date.now });
  try {
    print(approvalsText(await store.approvals.recent(limit)));
    return 0;
  } finally {
    await store.close();
  }
}
