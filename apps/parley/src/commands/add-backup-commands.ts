import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

interface RestoreFlags {
  readonly goOn?: boolean;
  readonly withSettings?: boolean;
}

/** Describes `parley backup` and `restore` to the command line; what they do is loaded when it is used. */
export function addBackupCommands(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  program
    .command('backup')
    .description('write everything into one file (.tar.gz), while Parley runs or not')
    .argument('<file>')
    .action((file: string) =>
      action(async (folder) =>
        (await import('./backup.ts')).backupCommand(folder, process.env, file, print),
      )(),
    );
  program
    .command('restore')
    .description('put a backup back, while Parley runs or not; what is there is moved aside')
    .argument('<file>')
    .option(
      '--go-on',
      'nothing has run since the backup was made: do what waits in it, instead of holding it back',
    )
    .option('--with-settings', 'take the settings of the backup, too, where there are some already')
    .action((file: string, flags: RestoreFlags) =>
      action(async (folder) =>
        (await import('./restore.ts')).restoreCommand(folder, process.env, file, flags, print),
      )(),
    );
}
