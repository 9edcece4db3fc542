import type { Command } from 'commander';
import { add, addDefault, ofOneAgent, type Runs, using, withExamples, withJson } from './cli.ts';
import type { RestoreFlags } from './commands/backup/restore.ts';

/** Adds the commands for the settings file. */
export function describeConfig(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/config.ts'));
  const config = withJson(add(program, 'config', 'check or upgrade the settings file'));
  const check = 'report all problems of the settings, without starting (exit 0 if there are none)';
  addDefault(config, 'check', check).action(() => work((m, cli) => m.configCheck(cli)));
  const upgrade =
    'rewrite an older settings file for this version; comments are kept, and so is the old file';
  add(config, 'upgrade', upgrade, () => work((m, cli) => m.configUpgrade(cli)));
}

/** Adds the commands for backup and restore. */
export function describeBackup(program: Command, { run }: Runs): void {
  const backup = using(run, () => import('./commands/backup/backup.ts'));
  const restore = using(run, () => import('./commands/backup/restore.ts'));
  const whole =
    'back up everything into one file (.tar.gz), even while Parley is running; not for PostgreSQL';
  const saving = add(program, 'backup <file>', whole, (file: string) =>
    backup((m, cli) => m.backup(cli, file)),
  );
  withExamples(saving, [['parley backup parley.tar.gz', 'even while Parley is running']]);
  const back =
    'restore a backup; a running Parley ends first, and the current state is moved aside';
  const restoring = add(program, 'restore <file>', back, (file: string, flags: RestoreFlags) =>
    restore((m, cli) => m.restore(cli, file, flags)),
  )
    .option(
      '--continue',
      'continue its unfinished work instead of holding it back; only if nothing has run since the backup',
    )
    .option('--with-settings', 'also replace existing settings with those of the backup')
    .option('--yes', 'do not ask before a running Parley ends')
    .option(
      '--dry-run',
      'check the file and show what a restore would do, without changing anything',
    );
  withExamples(restoring, [
    ['parley restore parley.tar.gz --dry-run', 'check the file, change nothing'],
    ['parley restore parley.tar.gz', 'restore it'],
  ]);
}

/** Adds the commands that import the workspace of another agent. */
export function describeImport(program: Command, { run }: Runs): void {
  const importing = using(run, () => import('./commands/import/import.ts'));
  const other = ofOneAgent(add(program, 'import', 'import the workspace of another agent'));
  for (const agent of ['openclaw', 'neomagi'] as const) {
    const name = agent === 'openclaw' ? 'OpenClaw' : 'NeoMAGI';
    const take = `list what can be imported from a workspace of ${name}; the original is not changed`;
    add(other, agent, take, (path: string, { yes }: { readonly yes?: boolean }) =>
      importing((m, cli) => m.importWorkspace(cli, agent, path, yes)),
    )
      .argument('<folder>', 'the workspace, or the folder that holds it')
      .option('--yes', 'copy it into the workspace; existing files are kept');
  }
  withExamples(other, [
    ['parley import openclaw ~/.openclaw', 'list what would be imported'],
    ['parley import neomagi ~/neomagi --yes', 'copy the workspace'],
  ]);
}
