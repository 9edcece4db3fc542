import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { z } from 'zod';
import { askRunning } from '../ask-gateway.ts';
import type { ExchangePlan, ExchangeResult } from '../backup/exchange-files.ts';
import { restoreBackup } from '../backup/restore-backup.ts';
import { outcomeOf, planFile } from '../backup/restore-here.ts';
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

/** A shutdown takes 10 s at most, and files on another file system are copied. In ms. */
const EXCHANGED_WITHIN_MS = 10 * 60_000;

/**
 * `parley restore FILE`: puts a backup back and says what that means; 0 when it is done. All is made ready
 * here. A process that runs on the data folder alone is asked to exchange its state for it, between two
 * starts. Processes that share a PostgreSQL go on running: there it is one transaction, which fences what
 * they were doing.
 */
export async function restoreCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  name: string,
  { goOn = false, withSettings = false }: RestoreFlags,
  print: (text: string) => void,
): Promise<number> {
  const gateway = await ownProcess(folder, env);
  const done = await restoreBackup({
    file: resolve(name),
    folder,
    env,
    clock: Date.now,
    unfinished: goOn ? 'go-on' : 'hold',
    withSettings,
    ...(gateway && { exchange: (plan, staging) => askFor(gateway, folder, plan, staging, print) }),
  });
  print(restoreText(done, folder));
  return 0;
}

/** The process that has the data folder to itself; null where none runs. */
async function ownProcess(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
): Promise<FoundGateway | null> {
  if (findInstance(folder) === null || isShared(readSettings(folder, env).settings)) return null;
  return await findGateway(folder, env);
}

async function askFor(
  gateway: FoundGateway,
  folder: DataFolder,
  plan: ExchangePlan,
  staging: string,
  print: (text: string) => void,
): Promise<ExchangeResult> {
  const id = randomUUID();
  writeFileSync(planFile(staging), JSON.stringify({ ...plan, id }), { mode: 0o600 });
  const body = { id, staging: basename(staging) };
  await askRunning(gateway, { path: '/api/restore', body, answer: z.object({}) });
  print(`Process ${gateway.pid} ends what it does, takes the restored state, and starts again.`);
  const outcome = await outcomeOf(id, folder, EXCHANGED_WITHIN_MS);
  if (outcome?.error === null) return outcome;
  throw new CliError(
    'restore-unanswered',
    outcome === null
      ? `Process ${gateway.pid} was asked to take over the restored state and says nothing; what it writes in its terminal or log tells more.`
      : `Process ${gateway.pid} could not take over the restored state: ${outcome.error}`,
  );
}
