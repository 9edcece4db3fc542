import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';
import type { SoulOrder } from './soul.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

const NUMBERED = [
  ['show', 'the whole text of a version'],
  ['diff', 'what a version changes'],
  ['apply', 'put a proposal that has passed into use now'],
  ['veto', 'say no to a proposal'],
  ['rollback', 'go back to a version that was in use; that makes a new one'],
] as const;

/** Describes `parley soul` to the command line; what it does is loaded when it is used. */
export function addSoulCommand(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  const run = (order: SoulOrder) =>
    action(async (folder) =>
      (await import('./soul.ts')).soulCommand(folder, process.env, order, print),
    )();
  const soul = program
    .command('soul')
    .description('SOUL.md: its versions, and proposals for another one');
  soul
    .command('list', { isDefault: true })
    .description('all versions, the newest first: state, score, author, reason')
    .action(() => run({ kind: 'list' }));
  for (const [kind, words] of NUMBERED) {
    soul
      .command(kind)
      .description(words)
      .argument('<number>')
      .action((number: string) => run({ kind, number }));
  }
  soul
    .command('propose')
    .description('propose the text of a file; the first one of all is v0-seed')
    .argument('<file>')
    .option('--reason <words>', 'why', 'proposed on the command line')
    .action((file: string, { reason }: { reason: string }) =>
      run({ kind: 'propose', file, reason }),
    );
}
