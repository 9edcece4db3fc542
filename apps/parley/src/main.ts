import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ParleyError } from '@parley/contracts';
import { Command, CommanderError } from 'commander';
import { CliError } from './cli-error.ts';
import { addApprovalsCommand } from './commands/add-approvals-command.ts';
import { addAuditCommand } from './commands/add-audit-command.ts';
import { addBackupCommands } from './commands/add-backup-commands.ts';
import { addConfigCommand } from './commands/add-config-command.ts';
import { addCronCommand } from './commands/add-cron-command.ts';
import { addDeadCommand } from './commands/add-dead-command.ts';
import { addHeartbeatCommand } from './commands/add-heartbeat-command.ts';
import { addImportCommand } from './commands/add-import-command.ts';
import { addMemoryCommand } from './commands/add-memory-command.ts';
import { addPluginsCommand } from './commands/add-plugins-command.ts';
import { addPromptCommand } from './commands/add-prompt-command.ts';
import { addSignInCommands } from './commands/add-sign-in-commands.ts';
import { addSkillsCommand } from './commands/add-skills-command.ts';
import { addSoulCommand } from './commands/add-soul-command.ts';
import { addStartCommands } from './commands/add-start-commands.ts';
import { addWhyCommand } from './commands/add-why-command.ts';
import { type DataFolder, locateDataFolder } from './data-folder.ts';

interface GlobalFlags {
  readonly data?: string;
  readonly config?: string;
}

/** Output streams of a command; the process's own by default. */
export interface CommandStreams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** The command line. Resolves with the exit code: 0 fine, 1 failed, 2 wrong usage, 3 not running. */
export async function main(
  args: readonly string[],
  { stdout, stderr }: CommandStreams = process,
): Promise<number> {
  let code = 0;
  let scrub = (text: string): string => text;
  const action = (run: Run) => async () => {
    code = await run(folderOf(program.opts<GlobalFlags>()));
  };
  const scrubbed = (run: Run) =>
    action(async (folder) => {
      scrub = (await import('./scrubbed-output.ts')).scrubOf(folder, process.env);
      return run(folder);
    });
  const print = (text: string) => void stdout.write(`${scrub(text)}\n`);
  const program = describeProgram({ bare: action, action: scrubbed, print });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof ParleyError) {
      stderr.write(`\n${scrub(error.message)}\n`);
      return 1;
    }
    throw error;
  }
}

type Run = (folder: DataFolder) => Promise<number>;

/** How commands run and print. */
interface Running {
  /** For commands that run a gateway, or show what one has scrubbed. */
  readonly bare: (run: Run) => () => Promise<void>;
  /** For all others: what they print holds no secret of the settings (G18). */
  readonly action: (run: Run) => () => Promise<void>;
  readonly print: (text: string) => void;
}

function describeProgram({ bare, action, print }: Running): Command {
  const program = new Command('parley')
    .description(
      'One agent, every chat: a messaging gateway that loses nothing, repeats nothing and keeps secrets.',
    )
    .option('--data <folder>', 'where everything is kept (default: PARLEY_HOME, else ~/.parley)')
    .option('--config <file>', 'the settings file (default: parley.yaml in the data folder)')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('Run "parley --help" to see what there is.')
    .exitOverride();
  addStartCommands(program, bare);
  program
    .command('chat')
    .description('talk to the agent here; starts a gateway if none is running')
    .addHelpText('after', CHAT_HELP)
    .action(bare(async (folder) => (await import('./commands/chat.ts')).chat(folder, process.env)));
  program
    .command('status')
    .description(
      'how the running gateway is doing; 0: all is well, 1: something is not, 3: none runs',
    )
    .action(
      action(async (folder) =>
        (await import('./commands/status.ts')).status(folder, process.env, print),
      ),
    );
  program
    .command('pair')
    .description('let a stranger in by the code they were given; without a code: who waits')
    .argument('[code]')
    .action((code: string = '') =>
      action(async (folder) =>
        (await import('./commands/pair.ts')).pairCommand(folder, process.env, code, print),
      )(),
    );
  program
    .command('storage')
    .description('what takes how much in the database, how long it is kept, and what is old')
    .option('--json', 'for programs')
    .action((flags: { readonly json?: boolean }) =>
      action(async (folder) =>
        (await import('./commands/storage.ts')).storage(folder, process.env, flags, print),
      )(),
    );
  addApprovalsCommand(program, action, print);
  addAuditCommand(program, action, print);
  addPluginsCommand(program, action, print);
  addImportCommand(program, action, print);
  addPromptCommand(program, action, print);
  addSkillsCommand(program, action, print);
  addMemoryCommand(program, action, print);
  addHeartbeatCommand(program, action, print);
  addSoulCommand(program, action, print);
  addCronCommand(program, action, print);
  addDeadCommand(program, action, print);
  addWhyCommand(program, action, print);
  // What they show is a secret: that is what they are for.
  addSignInCommands(program, bare, print);
  addBackupCommands(program, action, print);
  addConfigCommand(program, action, print);
  return program;
}

const EXAMPLES = `
Examples:
  parley start                          run, with everything in ~/.parley
  parley start --data ./work            run a second one, with everything in ./work
  parley chat --data ./work             talk to that one
  echo "hello" | parley chat            ask once, print the answer
  parley gateway, parley worker         the same in several processes (docs/deploy.md)
  parley config check --config my.yaml  what is wrong with my.yaml?`;

const CHAT_HELP = `
Enter sends, Ctrl-C stops a running answer, Ctrl-D ends the chat; /help in the chat shows the commands.
Input from a pipe is one message; its answer is printed, and nothing else.`;

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
