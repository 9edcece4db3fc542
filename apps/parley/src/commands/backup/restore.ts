import { resolve } from 'node:path';
import { reasonOf, systemTime } from '@parley/core';
import type { CliContext } from '../../cli.ts';
import { CliError, findInstance } from '../../data-folder.ts';
import { askGateway, type FoundGateway, findGateway } from '../../running-gateway.ts';
import { checkBackup } from './contents.ts';
import { restoreBackup } from './restore-backup.ts';
import { describePlan, describeRestore } from './restore-text.ts';

export interface RestoreFlags {
  readonly continue?: boolean;
  readonly withSettings?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/**
 * `parley restore FILE`: restores a backup and reports the result. All files are staged before the
 * running gateway is asked to stop, which requires a confirmation or `--yes`.
 */
export async function runRestore(
  { folder, env, print }: CliContext,
  name: string,
  { continue: continues = false, withSettings = false, yes = false, dryRun = false }: RestoreFlags,
): Promise<number> {
  const backup = await checkBackup(resolve(name));
  const gateway = findInstance(folder) === null ? null : await findGateway(folder, env);
  if (dryRun || (gateway !== null && !yes))
    print(describePlan(backup, gateway?.pid ?? null, folder));
  if (dryRun) return 0;
  if (gateway !== null) refuseInContainer(gateway);
  if (gateway !== null && !yes && !(await confirmRestore(backup.file))) {
    print('Nothing was changed.');
    return 1;
  }
  const done = await restoreBackup({
    backup,
    folder,
    env,
    clock: systemTime.clock,
    unfinished: continues ? 'go-on' : 'hold',
    withSettings,
    ...(gateway !== null && {
      endGateway: async () => {
        await requestShutdown(gateway);
        print(`Process ${gateway.pid} was asked to stop. Start it again afterwards.`);
      },
    }),
  });
  print(describeRestore(done, folder));
  return 0;
}

/**
 * When the main process of a container ends, processes started by `docker exec` are killed, so a
 * restore in the container would not survive stopping the gateway.
 */
function refuseInContainer({ pid }: FoundGateway): void {
  if (process.ppid !== 0) return;
  throw new CliError(
    'restore-in-container',
    `Nothing was changed: Parley (process ${pid}) has to stop first, and this container stops with it. Stop the container and run the restore in another one with the same volume; docs/backup.md has the commands.`,
  );
}

async function requestShutdown(gateway: FoundGateway): Promise<void> {
  await askGateway(gateway, '/api/gateway/stop', { body: {} }).catch((error: unknown) => {
    throw new CliError(
      'restore-unanswered',
      `Process ${gateway.pid} could not be asked to stop (${reasonOf(error)}). Nothing was changed. Stop it yourself, then restore again.`,
      error,
    );
  });
}

/** Asks for confirmation in the terminal. Throws CliError if standard input is not a terminal. */
async function confirmRestore(file: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CliError(
      'restore-unconfirmed',
      `Nothing was changed. Restoring ${file} would replace the data in use; add --yes to confirm.`,
    );
  }
  const { confirm } = await import('@clack/prompts');
  return (await confirm({ message: 'Restore this backup?', initialValue: false })) === true;
}
