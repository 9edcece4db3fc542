import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ParleyError } from '@parley/contracts';
import { Command, CommanderError } from 'commander';
import { CliError } from './cli-error.ts';
import { type DataFolder, locateDataFolder } from './data-folder.ts';

interface GlobalFlags {
  readonly data?: string;
  readonly config?: string;
}

/** The command line. Resolves with the exit code: 0 fine, 1 failed, 2 wrong usage, 3 not running. */
export async function main(args: readonly string[]): Promise<number> {
  let code = 0;
  const program = describeProgram((run) => async () => {
    code = await run(folderOf(program.opts<GlobalFlags>()));
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof ParleyError) {
      process.stderr.write(`\n${error.message}\n`);
      return 1;
    }
    throw error;
  }
}

type Run = (folder: DataFolder) => Promise<number>;

function describeProgram(action: (run: Run) => () => Promise<void>): Command {
  const program = new Command('parley')
    .description(
      'One agent, every chat: a messaging gateway that loses nothing, repeats nothing and keeps secrets.',
    )
    .option('--data <folder>', 'where everything is kept (default: PARLEY_HOME, else ~/.parley)')
    .option('--config <file>', 'the settings file (default: parley.yaml in the data folder)')
    .showHelpAfterError('Run "parley --help" to see what there is.')
    .exitOverride();
  program
    .command('start')
    .description('start everything in this terminal; Ctrl-C stops it')
    .action(
      action(async (folder) =>
        (await import('./commands/start.ts')).start(folder, process.env, () => {}),
      ),
    );
  program
    .command('chat')
    .description('talk to the agent here; starts a gateway if none is running')
    .action(
      action(async (folder) => (await import('./commands/chat.ts')).chat(folder, process.env)),
    );
  program
    .command('status')
    .description('how the running gateway is doing')
    .action(action(async (folder) => (await import('./commands/status.ts')).status(folder, print)));
  program
    .command('config')
    .description('work with the settings file')
    .command('check')
    .description('say all that is wrong with the settings, without starting anything')
    .action(
      action(async (folder) =>
        (await import('./commands/config-check.ts')).configCheck(folder, process.env, print),
      ),
    );
  return program;
}

/** Throws CliError when a named settings file is not there: a slip of the pen must not start with defaults. */
function folderOf(flags: GlobalFlags): DataFolder {
  const folder = locateDataFolder(flags.data, process.env);
  if (flags.config === undefined) return folder;
  const settingsFile = resolve(flags.config);
  if (existsSync(settingsFile)) return { ...folder, settingsFile };
  throw new CliError(
    'settings-missing',
    `There is no settings file ${settingsFile}. Check --config, or leave it out to use ${folder.settingsFile}.`,
  );
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
