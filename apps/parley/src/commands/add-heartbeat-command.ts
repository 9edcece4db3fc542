import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';
import type { HeartbeatOrder } from './heartbeat.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

interface Flags {
  readonly json?: boolean;
}

/** Describes `parley heartbeat` to the command line; what it does is loaded when it is used. */
export function addHeartbeatCommand(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  const run = (order: HeartbeatOrder) =>
    action(async (folder) =>
      (await import('./heartbeat.ts')).heartbeatCommand(folder, process.env, order, print),
    )();
  const heartbeat = program
    .command('heartbeat')
    .description('standing tasks of HEARTBEAT.md: last runs, next runs, why not now')
    .option('--json', 'as JSON')
    .action(({ json = false }: Flags) => run({ kind: 'show', json }));
  heartbeat
    .command('now')
    .description('run the named task now, or the one that is due; 1: none began, 3: nothing runs')
    .argument('[task...]')
    .option('--json', 'as JSON')
    .action((words: readonly string[], flags: Flags) => {
      const { json = false } = { ...heartbeat.opts<Flags>(), ...flags };
      return run({ kind: 'now', task: words.join(' '), json });
    });
}
