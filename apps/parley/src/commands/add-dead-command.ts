import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';
import type { DeadCommand } from './dead.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

const EXAMPLES = `
Examples:
  parley dead                        what was given up, and why
  parley dead show 17                all of letter 17
  parley dead replay 17 18           send them again, in the order in which they were to come
  parley dead replay --all           all but what may have arrived already
  parley dead replay 19 --even-twice although it may have arrived: it may come twice
  parley dead drop --all --kind unanswered`;

const KIND = 'only these: refused, uncertain or unanswered';

/** Describes `parley dead` to the command line; what it does is loaded when it is used. */
export function addDeadCommand(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  const run = (command: DeadCommand) =>
    action(async (folder) =>
      (await import('./dead.ts')).deadCommand(folder, process.env, command, print),
    )();
  const dead = program
    .command('dead')
    .description('what could not be delivered or answered: list, show, replay, drop')
    .addHelpText('after', EXAMPLES);
  dead
    .command('list', { isDefault: true })
    .description('what nobody has replayed or dropped, the newest first')
    .option('--last <count>', 'how many', '20')
    .option('--before <number>', 'those that are older than this letter')
    .option('--json', 'for programs')
    .action((flags: Omit<Extract<DeadCommand, { action: 'list' }>, 'action'>) =>
      run({ action: 'list', ...flags }),
    );
  dead
    .command('show')
    .description('all of one letter')
    .argument('<number>')
    .option('--json', 'for programs')
    .action((id: string, { json }: { readonly json?: boolean }) =>
      run({ action: 'show', id, json }),
    );
  const settling = (name: 'replay' | 'drop', words: string) =>
    dead
      .command(name)
      .description(words)
      .argument('[numbers...]')
      .option('--all', 'all of them')
      .option('--kind <kind>', KIND)
      .option('--json', 'for programs');
  type Flags = Pick<
    Extract<DeadCommand, { action: 'drop' }>,
    'all' | 'kind' | 'json' | 'evenTwice'
  >;
  settling('replay', 'send it again, or ask it again')
    .option('--even-twice', 'also what may have arrived already, and then comes twice')
    .action((ids: string[], flags: Flags) => run({ action: 'replay', ids, ...flags }));
  settling('drop', 'leave it at that: it is never listed again, and /why still tells of it').action(
    (ids: string[], flags: Flags) => run({ action: 'drop', ids, ...flags }),
  );
}
