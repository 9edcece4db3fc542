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
import type { UpgradeFlags } from './commands/upgrade/upgrade.ts';

export function addConfigCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/config.ts'));
  const config = addJsonOption(addCommand(program, 'config', 'check or upgrade the settings file'));
  const check = 'report all problems in the settings without starting (exit 0 if there are none)';
  addDefault(config, 'check', check).action(() => work((m, cli) => m.checkConfig(cli)));
  const upgrade =
    'rewrite an older settings file for this version, keeping its comments and a copy of the old file';
  addCommand(config, 'upgrade', upgrade, () => work((m, cli) => m.upgradeConfig(cli)));
}

export function addBackupCommands(program: Command, { run }: CommandRunners): void {
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

const UPGRADE_NOTES = `The new version first runs on a copy of the data, between simulated platforms and a simulated model: nothing is sent, and
your data is not touched. Its answers, prompts, data, speed and memory are compared with those of the version that runs now.
Then a service switches to it, watches it for ten minutes, and returns by itself if it must; what was accepted since is kept.
In a container or a clone, the commands for the switch are printed. A version is found only at upgrade.url of the settings.`;

export function describeUpgrade(program: Command, { run }: CommandRunners): void {
  const upgrade = createModuleRunner(run, () => import('./commands/upgrade/upgrade.ts'));
  const what = 'try a new version on a copy of the data, switch to it, and return if it must';
  const upgrading = addCommand(
    program,
    'upgrade [release]',
    what,
    (release: string | undefined, flags: UpgradeFlags) =>
      upgrade((m, cli) => m.runUpgrade(cli, release, flags)),
  )
    .option('--sha256 <checksum>', 'the published checksum; default: that in RELEASE.sha256')
    .option('--rehearse', 'only try it, and change nothing')
    .option(
      '--accept <kinds>',
      'changes that are intended: prompts, speed, memory, data, doctor, return',
    );
  addExamples(
    upgrading,
    [
      ['parley upgrade parley-0.2.0.tgz --rehearse', 'try a packed release'],
      ['parley upgrade parley-0.2.0.tgz', 'try it, switch, and watch'],
      ['parley upgrade 0.2.0', 'the same, from upgrade.url of the settings'],
      ['parley upgrade', 'continue an upgrade that was interrupted'],
    ],
    UPGRADE_NOTES,
  );
}

export function addImportCommands(program: Command, { run }: CommandRunners): void {
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
