import type { Command } from 'commander';
import {
  addAgentOption,
  addCommand,
  addDefault,
  addExamples,
  addJsonOption,
  type CommandRunners,
  createModuleRunner,
} from './cli.ts';
import type { RestoreFlags } from './commands/backup/restore.ts';

export function describeConfig(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/config.ts'));
  const config = addJsonOption(addCommand(program, 'config', 'check or upgrade the settings file'));
  const check = 'report all problems in the settings without starting (exit 0 if there are none)';
  addDefault(config, 'check', check).action(() => work((m, cli) => m.checkConfig(cli)));
  const upgrade =
    'rewrite an older settings file for this version, keeping its comments and a copy of the old file';
  addCommand(config, 'upgrade', upgrade, () => work((m, cli) => m.upgradeConfig(cli)));
}

export function describeBackup(program: Command, { run }: CommandRunners): void {
  const backup = createModuleRunner(run, () => import('./commands/backup/backup.ts'));
  const restore = createModuleRunner(run, () => import('./commands/backup/restore.ts'));
  const whole =
    'back up everything into one file (.tar.gz), even while Parley is running; PostgreSQL is not supported';
  const saving = addCommand(program, 'backup <file>', whole, (file: string) =>
    backup((m, cli) => m.runBackup(cli, file)),
  );
  addExamples(saving, [['parley backup parley.tar.gz', 'even while Parley is running']]);
  const back =
    'restore a backup; a running Parley is stopped first, and the current state is moved aside';
  const restoring = addCommand(
    program,
    'restore <file>',
    back,
    (file: string, flags: RestoreFlags) => restore((m, cli) => m.runRestore(cli, file, flags)),
  )
    .option(
      '--continue',
      'continue its unfinished work instead of holding it back; only safe if Parley has not run since the backup',
    )
    .option('--with-settings', 'also replace existing settings with the ones from the backup')
    .option('--yes', 'do not ask before stopping a running Parley')
    .option(
      '--dry-run',
      'check the file and show what a restore would do, without changing anything',
    );
  addExamples(restoring, [
    ['parley restore parley.tar.gz --dry-run', 'check the file without changing anything'],
    ['parley restore parley.tar.gz', 'restore it'],
  ]);
}

export function describeImport(program: Command, { run }: CommandRunners): void {
  const importing = createModuleRunner(run, () => import('./commands/import/import.ts'));
  const other = addAgentOption(addCommand(program, 'import', 'import another agent’s workspace'));
  for (const agent of ['openclaw', 'neomagi'] as const) {
    const name = agent === 'openclaw' ? 'OpenClaw' : 'NeoMAGI';
    const take = `list what can be imported from a ${name} workspace; the original is not changed`;
    addCommand(other, agent, take, (path: string, { yes }: { readonly yes?: boolean }) =>
      importing((m, cli) => m.importWorkspace(cli, agent, path, yes)),
    )
      .argument('<folder>', 'the workspace, or the folder that contains it')
      .option('--yes', 'copy it into the workspace; existing files are kept');
  }
  addExamples(other, [
    ['parley import openclaw ~/.openclaw', 'list what would be imported'],
    ['parley import neomagi ~/neomagi --yes', 'copy the workspace'],
  ]);
}
