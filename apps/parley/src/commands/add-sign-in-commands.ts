import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

/** Describes `parley token` and `parley sessions` to the command line; what they do is loaded when used. */
export function addSignInCommands(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  const load = () => import('./sign-in.ts');
  const token = program.command('token').description('the secret of the page and the API');
  token
    .command('show', { isDefault: true })
    .description('print the address that signs a browser in')
    .action(action(async (folder) => (await load()).showToken(folder, process.env, print)));
  token
    .command('rotate')
    .description('make another token and end all sessions; nothing has to be started again')
    .action(action(async (folder) => (await load()).rotateToken(folder, process.env, print)));
  const sessions = program
    .command('sessions')
    .description('the browsers that are signed in to the page: list, end');
  sessions
    .command('list', { isDefault: true })
    .description('the last used first')
    .action(action(async (folder) => (await load()).listSessions(folder, process.env, print)));
  sessions
    .command('end')
    .description('sign a browser out, at once')
    .argument('[id]')
    .option('--all', 'all of them')
    .action((id: string | undefined, { all }: { readonly all?: boolean }) =>
      action(async (folder) =>
        (await load()).endSessions(folder, process.env, all ? 'all' : id, print),
      )(),
    );
}
