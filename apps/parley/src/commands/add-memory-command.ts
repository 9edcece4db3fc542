import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';
import type { MemoryOrder } from './memory.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

/** Describes `parley memory` to the command line; what it does is loaded when it is used. */
export function addMemoryCommand(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  const run = (order: MemoryOrder) =>
    action(async (folder) =>
      (await import('./memory.ts')).memoryCommand(folder, process.env, order, print),
    )();
  const memory = program.command('memory').description('what the agent has saved');
  memory
    .command('list')
    .description('what is saved in memory/, as the owner sees it')
    .action(() => run({ kind: 'list' }));
  memory
    .command('search')
    .description('memories, notes and knowledge by words; 1: nothing was found')
    .argument('<words...>')
    .action((words: readonly string[]) => run({ kind: 'search', words: words.join(' ') }));
  memory
    .command('rebuild')
    .description('make the index anew from the files')
    .action(() => run({ kind: 'rebuild' }));
  memory
    .command('versions')
    .description('what MEMORY.md was before, the newest first, and why it changed')
    .action(() => run({ kind: 'versions' }));
  memory
    .command('diff')
    .description('what has changed in MEMORY.md since a version; without one, since the last')
    .argument('[version]')
    .action((version: string | undefined) => run({ kind: 'diff', version }));
  memory
    .command('restore')
    .description('put MEMORY.md back to a version; what stands there now is kept as one')
    .argument('<version>')
    .action((version: string) => run({ kind: 'restore', version }));
}
