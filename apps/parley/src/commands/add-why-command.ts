import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

const HELP = `
Examples:
  parley why last                     the newest message of a person
  parley why telegram:42/1207         message 1207 of the Telegram chat 42
  parley why 1207                     the same, where no other chat has such a message
  parley why turn_01k...              the first message of a turn

It shows no words of messages, and no arguments or results of tools.`;

/** Describes `parley why` to the command line; what it does is loaded when it is used. */
export function addWhyCommand(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  program
    .command('why')
    .description('what became of a message, stage by stage, or the exact reason for silence')
    .argument('<message>', 'its id, channel:chat/id, a turn, or last')
    .option('--json', 'for programs')
    .addHelpText('after', HELP)
    .action((message: string, { json }: { readonly json?: boolean }) =>
      action(async (folder) =>
        (await import('./why.ts')).whyCommand(folder, process.env, { message, json }, print),
      )(),
    );
}
