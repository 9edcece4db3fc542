import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

/** Describes `parley skills` to the command line; what it does is loaded when it is used. */
export function addSkillsCommand(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  const run = (name: string | undefined) =>
    action(async (folder) =>
      (await import('./skills.ts')).skillsCommand(folder, process.env, name, print),
    )();
  const skills = program
    .command('skills')
    .description('each skill with its source, its state and why; 0: fine, 1: one is refused')
    .action(() => run(undefined));
  skills
    .command('show')
    .description('one skill in full, with its text; 1: there is none of that name')
    .argument('<name>')
    .action((name: string) => run(name));
}
