import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

/** Describes `parley import` to the command line; what it does is loaded when it is used. */
export function addImportCommand(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  program
    .command('import')
    .description('take over the workspace of another agent')
    .command('openclaw')
    .description('say what of an OpenClaw workspace is used; the original is left as it is')
    .argument('<folder>', 'the workspace, by default ~/.openclaw/workspace')
    .option('--yes', 'copy it into the workspace; files that are there stay')
    .action((path: string, { yes = false }: { readonly yes?: boolean }) =>
      action(async (folder) => {
        const { importOpenClaw } = await import('./import.ts');
        const newId = (prefix: string) => `${prefix}-${randomUUID()}`;
        const deps = { env: process.env, print, clock: Date.now, newId };
        return importOpenClaw(folder, path, yes, deps);
      })(),
    );
}
