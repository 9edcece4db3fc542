import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';
import type { AuditFlags } from './audit.ts';

type Action = (run: (folder: DataFolder) => Promise<number>) => () => Promise<void>;

const HELP = `
Exit code: 0 nothing at warning or above, 1 warnings, 2 something critical, 3 it could not run.
docs/audit.md lists all checks.`;

/** Describes `parley audit` to the command line; what it does is loaded when it is used. */
export function addAuditCommand(
  program: Command,
  action: Action,
  print: (text: string) => void,
): void {
  const audit = program
    .command('audit')
    .description('what weakens the guards of this installation, and what to do about it')
    .option('--json', 'for programs')
    .option(
      '--fix',
      'take rights from others on files of this installation; nothing else is changed',
    )
    .addHelpText('after', HELP)
    .action((flags: AuditFlags) =>
      action(async (folder) =>
        (await import('./audit.ts')).auditCommand(folder, process.env, flags, print),
      )(),
    );
  audit
    .command('accept')
    .description('accept what the tools of an MCP server say of themselves now')
    .argument('<server>')
    .action((server: string) =>
      action(async (folder) => (await import('./audit.ts')).acceptCommand(folder, server, print))(),
    );
}
