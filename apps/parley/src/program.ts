import { Command, InvalidArgumentError } from 'commander';
import type { Json, Runs } from './cli.ts';
import type { AuditFlags } from './commands/audit.ts';
import type { DeadWork } from './commands/dead.ts';
import type { RestoreFlags } from './commands/restore.ts';
import { describeAgent } from './program-agent.ts';

/** All commands, with their arguments, options and help. */
export function describeProgram(runs: Runs): Command {
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
  describeStart(program, runs);
  describeStatus(program, runs);
  describeAccess(program, runs);
  describeAudit(program, runs);
  describeAgent(program, runs);
  describeDead(program, runs);
  describeFiles(program, runs);
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

const ROLES = [
  ['start', 'all', 'start everything in this terminal; Ctrl-C stops it and loses nothing'],
  ['gateway', 'gateway', 'start the channels and the web page alone; needs PostgreSQL and Redis'],
  ['worker', 'worker', 'start what answers alone; any number, on any machine'],
] as const;

/** Processes (D09), and the chat in the terminal. */
function describeStart(program: Command, { bare }: Runs): void {
  const port = 'instead of http.port of the settings; 0 takes any free one';
  for (const [name, role, description] of ROLES) {
    program
      .command(name)
      .description(description)
      .option('--port <number>', port, portOf)
      .action((flags: { readonly port?: number }) =>
        bare(async ({ folder, env }) => {
          const { start } = await import('./commands/start.ts');
          return start(folder, env, () => {}, { role, port: flags.port });
        }),
      );
  }
  program
    .command('chat')
    .description('talk to the agent here; starts a gateway if none is running')
    .addHelpText('after', CHAT_HELP)
    .action(() => bare(async (cli) => (await import('./commands/chat.ts')).chat(cli)));
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a number from 0 to 65535.');
}

const WHY_HELP = `
Examples:
  parley why last                     the newest message of a person
  parley why telegram:42/1207         message 1207 of the Telegram chat 42
  parley why 1207                     the same, where no other chat has such a message
  parley why turn_01k...              the first message of a turn

It shows no text of messages, and no arguments or results of tools.`;

function describeStatus(program: Command, { run }: Runs): void {
  const load = () => import('./commands/status.ts');
  program
    .command('status')
    .description(
      'how the running gateway is doing; 0: all is well, 1: something is not, 3: none runs',
    )
    .action(() => run(async (cli) => (await load()).status(cli)));
  program
    .command('why')
    .description('what became of a message, stage by stage, or the exact reason for silence')
    .argument('<message>', 'its id, channel:chat/id, a turn, or last')
    .option('--json', 'for programs')
    .addHelpText('after', WHY_HELP)
    .action((message: string, { json }: Json) =>
      run(async (cli) => (await load()).why(cli, message, json)),
    );
  program
    .command('storage')
    .description('what takes how much in the database, how long it is kept, and what is old')
    .option('--json', 'for programs')
    .action(({ json }: Json) => run(async (cli) => (await load()).storage(cli, json)));
}

/** Who may write, decide and sign in. */
function describeAccess(program: Command, { run, bare }: Runs): void {
  const load = () => import('./commands/access.ts');
  program
    .command('pair')
    .description('allow a stranger by the code they were given; without a code: pending requests')
    .argument('[code]')
    .action((code = '') => run(async (cli) => (await load()).pairCommand(cli, code)));
  program
    .command('approvals')
    .description('what I asked people before I did it, who decided, and what came of it')
    .option('--last <count>', 'how many of the newest', '20')
    .action(({ last }: { readonly last: string }) =>
      run(async (cli) => (await load()).approvals(cli, last)),
    );
  const token = program.command('token').description('the secret of the page and the API');
  token
    .command('show', { isDefault: true })
    .description('print the address that signs a browser in')
    .action(() => bare(async (cli) => (await load()).showToken(cli)));
  token
    .command('rotate')
    .description('make another token and end all sessions; nothing has to be started again')
    .action(() => bare(async (cli) => (await load()).rotateToken(cli)));
  const sessions = program
    .command('sessions')
    .description('the browsers that are signed in to the page: list, end');
  sessions
    .command('list', { isDefault: true })
    .description('the last used first')
    .action(() => bare(async (cli) => (await load()).listSessions(cli)));
  sessions
    .command('end')
    .description('sign a browser out, at once')
    .argument('[id]')
    .option('--all', 'all of them')
    .action((id: string | undefined, { all }: { readonly all?: boolean }) =>
      bare(async (cli) => (await load()).endSessions(cli, all ? 'all' : id)),
    );
}

const AUDIT_HELP = `
Exit code: 0 nothing at warning or above, 1 warnings, 2 something critical, 3 it could not run.
docs/audit.md lists all checks.`;

function describeAudit(program: Command, { run }: Runs): void {
  const load = () => import('./commands/audit.ts');
  const audit = program
    .command('audit')
    .description('what weakens the guards of this installation, and what to do about it')
    .option('--json', 'for programs')
    .option(
      '--fix',
      'take rights from others on files of this installation; nothing else is changed',
    )
    .addHelpText('after', AUDIT_HELP)
    .action((flags: AuditFlags) => run(async (cli) => (await load()).audit(cli, flags)));
  audit
    .command('accept')
    .description('accept what the tools of an MCP server say of themselves now')
    .argument('<server>')
    .action((server: string) => run(async (cli) => (await load()).auditAccept(cli, server)));
}

const DEAD_HELP = `
Examples:
  parley dead                        what was given up, and why
  parley dead show 17                all of letter 17
  parley dead replay 17 18           send them again, in the order in which they were to come
  parley dead replay --all           all but what may have arrived already
  parley dead replay 19 --even-twice although it may have arrived: it may come twice
  parley dead drop --all --kind unanswered`;

function describeDead(program: Command, { run }: Runs): void {
  const work = (what: DeadWork) =>
    run(async (cli) => (await import('./commands/dead.ts')).dead(cli, what));
  const dead = program
    .command('dead')
    .description('what could not be delivered or answered: list, show, replay, drop')
    .addHelpText('after', DEAD_HELP);
  dead
    .command('list', { isDefault: true })
    .description('what nobody has replayed or dropped, the newest first')
    .option('--last <count>', 'how many', '20')
    .option('--before <number>', 'those that are older than this letter')
    .option('--json', 'for programs')
    .action((flags: Omit<Extract<DeadWork, { action: 'list' }>, 'action'>) =>
      work({ action: 'list', ...flags }),
    );
  dead
    .command('show')
    .description('all of one letter')
    .argument('<number>')
    .option('--json', 'for programs')
    .action((id: string, { json }: Json) => work({ action: 'show', id, json }));
  type Flags = Omit<Extract<DeadWork, { action: 'drop' }>, 'action' | 'ids'>;
  const settling = (action: 'replay' | 'drop', description: string) =>
    dead
      .command(action)
      .description(description)
      .argument('[numbers...]')
      .option('--all', 'all of them')
      .option('--kind <kind>', 'only these: refused, uncertain or unanswered')
      .option('--json', 'for programs')
      .action((ids: string[], flags: Flags) => work({ action, ids, ...flags }));
  settling('replay', 'send it again, or ask it again').option(
    '--even-twice',
    'also what may have arrived already, and then comes twice',
  );
  settling('drop', 'leave it at that: it is never listed again, and /why still tells of it');
}

/** The settings file, backups, and the workspace of another agent. */
function describeFiles(program: Command, { run }: Runs): void {
  const restore = () => import('./commands/restore.ts');
  const config = () => import('./commands/config.ts');
  program
    .command('backup')
    .description('write everything into one file (.tar.gz), while Parley runs or not')
    .argument('<file>')
    .action((file: string) =>
      run(async (cli) => (await import('./commands/backup.ts')).backup(cli, file)),
    );
  program
    .command('restore')
    .description('put a backup back, while Parley runs or not; what is there is moved aside')
    .argument('<file>')
    .option(
      '--go-on',
      'nothing has run since the backup was made: do what waits in it, instead of holding it back',
    )
    .option('--with-settings', 'take the settings of the backup, too, where there are some already')
    .action((file: string, flags: RestoreFlags) =>
      run(async (cli) => (await restore()).restore(cli, file, flags)),
    );
  program
    .command('import')
    .description('take over the workspace of another agent')
    .command('openclaw')
    .description('say what of an OpenClaw workspace is used; the original is left as it is')
    .argument('<folder>', 'the workspace, by default ~/.openclaw/workspace')
    .option('--yes', 'copy it into the workspace; files that are there stay')
    .action((path: string, { yes }: { readonly yes?: boolean }) =>
      run(async (cli) => (await import('./commands/import.ts')).importOpenClaw(cli, path, yes)),
    );
  const settings = program.command('config').description('work with the settings file');
  settings
    .command('check')
    .description('say all that is wrong with the settings, without starting; 0: nothing is')
    .action(() => run(async (cli) => (await config()).configCheck(cli)));
  settings
    .command('upgrade')
    .description(
      'write an older settings file as this Parley has it; comments and the old file stay',
    )
    .action(() => run(async (cli) => (await config()).configUpgrade(cli)));
}
