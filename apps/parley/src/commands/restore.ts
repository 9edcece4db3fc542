import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { z } from 'zod';
import { askRunning } from '../ask-gateway.ts';
import { checkBackup } from '../backup/check-backup.ts';
import { type RestoreOrder, restoreBackup } from '../backup/restore-backup.ts';
import { outcomeOf } from '../backup/restore-here.ts';
import { restoreText } from '../backup/restore-text.ts';
import { CliError } from '../cli-error.ts';
import type { DataFolder } from '../data-folder.ts';
import { type FoundGateway, findGateway } from '../find-gateway.ts';
import { findInstance } from '../instance-file.ts';
import { isShared } from '../process-role.ts';
import { readSettings } from '../read-settings.ts';

/** What a person may say about a restore. */
export interface RestoreFlags {
  /** Nothing has run since the backup was made. */
  readonly goOn?: boolean;
  readonly withSettings?: boolean;
}

/** A backup of many gigabytes takes minutes. In ms. */
const RESTORED_WITHIN_MS = 30 * 60_000;

/**
 * `parley restore FILE`: puts a backup back and says what that means; 0 when it is done. A process that runs
 * on the data folder alone does it itself, between two starts. Processes that share a PostgreSQL go on
 * running: there it is one transaction, which fences what they were doing.
 */
export async function restoreCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  name: string,
  { goOn = false, withSettings = false }: RestoreFlags,
  print: (text: string) => void,
): Promise<number> {
  const order: RestoreOrder = {
    file: resolve(name),
    folder,
    env,
    clock: Date.now,
    unfinished: goOn ? 'go-on' : 'hold',
    withSettings,
  };
  if (findInstance(folder) !== null && !isShared(readSettings(folder, env).settings)) {
    const gateway = await findGateway(folder, env);
    if (gateway !== null) return await askProcess(order, gateway, print);
  }
  print(restoreText(await restoreBackup(order), folder));
  return 0;
}

async function askProcess(
  { file, folder, unfinished, withSettings }: RestoreOrder,
  gateway: FoundGateway,
  print: (text: string) => void,
): Promise<number> {
  // So that nothing is stopped for a file that cannot be used.
  await checkBackup(file);
  const id = randomUUID();
  const { pid } = gateway;
  const body = { id, file, unfinished, withSettings };
  await askRunning(gateway, { path: '/api/restore', body, answer: z.object({}) });
  print(`Process ${pid} ends what it does, restores, and starts again.`);
  const outcome = await outcomeOf(id, folder, RESTORED_WITHIN_MS);
  if (outcome === null) {
    throw new CliError(
      'restore-unanswered',
      `Process ${pid} was asked to restore ${file} and says nothing; what it writes in its terminal or log tells more.`,
    );
  }
  print(outcome.text);
  return outcome.ok ? 0 : 1;
}
