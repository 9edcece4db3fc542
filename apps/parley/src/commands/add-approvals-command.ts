import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

/** Describes `parley approvals` to the command line; what it does is loaded when it is used. */
export function addApprovalsCommand(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  program
    .command('approvals')
    .description('what I asked people before I did it, who decided, and what came of it')
    .option('--last <count>', 'how many of the newest', '20')
    .action(({ last }: { last: string }) =>
      action(async (folder) =>
        (await import('./approvals.ts')).approvalsCommand(folder, process.env, last, print),
      )(),
    );
}
