import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

/** Describes `parley plugins` to the command line; what it does is loaded when it is used. */
export function addPluginsCommand(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  program
    .command('plugins')
    .description('what each plugin brings, or why it does not work; 0: all work')
    .action(
      action(async (folder) => (await import('./plugins.ts')).plugins(folder, process.env, print)),
    );
}
