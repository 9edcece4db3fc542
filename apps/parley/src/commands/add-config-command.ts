import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

/** Describes `parley config` to the command line; what it does is loaded when it is used. */
export function addConfigCommand(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  const config = program.command('config').description('work with the settings file');
  config
    .command('check')
    .description('say all that is wrong with the settings, without starting; 0: nothing is')
    .action(
      action(async (folder) =>
        (await import('./config-check.ts')).configCheck(folder, process.env, print),
      ),
    );
  config
    .command('upgrade')
    .description(
      'write an older settings file as this Parley has it; comments and the old file stay',
    )
    .action(
      action(async (folder) => (await import('./config-upgrade.ts')).configUpgrade(folder, print)),
    );
}
