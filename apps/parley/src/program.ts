import type { InputOf } from '@parley/gateway/operations';
import { Argument, Command, Option } from 'commander';
import {
  add,
  addDefault,
  idNumber,
  isoDate,
  numberFrom,
  ofOneAgent,
  type Runs,
  refuseUnknown,
  using,
  withJson,
  withoutJson,
} from './cli.ts';
import type { RestoreFlags } from './commands/backup/restore.ts';
import type { AuditFlags } from './commands/checks/audit.ts';
import type { Shell } from './commands/completion.ts';
import type { Settling } from './commands/dead.ts';
import type { LogsFlags } from './commands/logs.ts';
import type { SimulateFlags } from './commands/simulate/simulate.ts';
import { acceptFormerOptions } from './former-options.ts';
import { describeAgent } from './program-agent.ts';
import { describeConversations } from './program-conversations.ts';
import { describeAccess, describePeople } from './program-people.ts';
import { versionText } from './version.ts';

export function describeProgram(runs: Runs): Command {
  const program = new Command('parley')
    .description(
      'One agent, every chat: a messaging gateway that loses nothing, repeats nothing and keeps secrets.',
    )
    .option('--data <folder>', 'where everything is kept (default: PARLEY_HOME, else ~/.parley)')
    .option(
      '--config <file>',
      'the settings file (default: that of the gateway which runs there, else parley.yaml in the data folder)',
    )
    .version(versionText(), '--version', 'the versions of Parley and Node')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('Run "parley --help" to see what there is.')
    .exitOverride();
  describeStart(program, runs);
  describeService(program, runs);
  describeSimulate(program, runs);
  describeStatus(program, runs);
  describeUsage(program, runs);
  describeLogs(program, runs);
  describeChannels(program, runs);
  describeAccess(program, runs);
  describePeople(program, runs);
  describeDoctor(program, runs);
  describeAudit(program, runs);
  describeAgent(program, runs);
  describeConversations(program, runs);
  describeDead(program, runs);
  describeFiles(program, runs);
  describeCompletion(program, runs);
  acceptFormerOptions(program);
  refuseUnknown(program);
  return program;
}

const EXAMPLES = `
Examples:
  parley start                          run, with everything in ~/.parley
  parley start --data ./work            run a second one, with everything in ./work
  parley chat --data ./work             talk to that one
  parley simulate telegram              play Telegram against it, without an account
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

function describeStart(program: Command, { bare, starting }: Runs): void {
  const start = using(starting, () => import('./commands/start.ts'));
  const port = 'instead of http.port of the settings; 0 takes any free one';
  for (const [name, role, description] of ROLES) {
    add(program, name, description, ({ port }: { readonly port?: number }) =>
      start((m, { folder, env }) => m.start(folder, env, () => {}, { role, port })),
    ).option('--port <number>', port, numberFrom(0, 65_535));
  }
  const setup = using(bare, () => import('./commands/setup/setup.ts'));
  const asks = 'connect a model and a channel, and become the owner: asks, and tries each answer';
  add(program, 'setup', asks, () => setup((m, cli) => m.setup(cli)));
  const chat = using(bare, () => import('./commands/chat.ts'));
  const talk = 'talk to the agent here; starts a gateway if none is running';
  const talking = add(program, 'chat', talk, () => chat((m, cli) => m.chat(cli)));
  ofOneAgent(talking).addHelpText('after', CHAT_HELP);
}

const SERVICE_HELP = `
As root it is a service of the machine, with the user parley and its data in /var/lib/parley; as another user it is one of
that user, on the data folder of all commands. docs/service.md explains what it may do and how it gets its keys.`;

function describeService(program: Command, { starting }: Runs): void {
  const work = using(starting, () => import('./commands/service/service.ts'));
  const what = 'run in the background and from the start of the machine on (systemd, launchd)';
  const service = add(program, 'service', what).addHelpText('after', SERVICE_HELP);
  const install = 'write the unit, start it, and wait until it answers; again after changes';
  add(service, 'install', install, (flags: { readonly print?: boolean }) =>
    work((m, cli) => m.installService(cli, flags)),
  ).option('--print', 'print the unit and do nothing');
  const status = '0: it runs and answers, 1: it does not, 3: there is none';
  withJson(add(service, 'status', status, () => work((m, cli) => m.serviceStatus(cli))));
  const remove = 'end it and remove the unit; the data is kept';
  add(service, 'uninstall', remove, () => work((m, cli) => m.uninstallService(cli)));
}

const SIMULATE_HELP = `
The page shows a copy of the platform with several people, a group, buttons, files and faults, and a Parley with your
settings, model and plugins, and a copy of your workspace. Your own conversations are left alone, and nothing of the
platform is asked. docs/simulate.md says what such a copy enforces, and how scenes become tests.

Examples:
  parley simulate                                  Telegram
  parley simulate discord --record scene.jsonl     Discord, and what you do and see goes into a file
  parley simulate discord --play scene.jsonl       do it again, say what is different; 0: nothing, 1: something`;

function describeSimulate(program: Command, { bare }: Runs): void {
  const work = using(bare, () => import('./commands/simulate/simulate.ts'));
  const what = 'play a platform against your Parley on a page: no account, no token';
  const platform = new Argument('[platform]', 'telegram, discord or whatsapp');
  add(
    program,
    'simulate',
    what,
    (name: 'telegram' | 'discord' | 'whatsapp', flags: SimulateFlags) =>
      work((m, cli) => m.simulate(cli, name, flags)),
  )
    .addArgument(platform.choices(['telegram', 'discord', 'whatsapp']).default('telegram'))
    .option('--port <number>', 'of the page; any free one without it', numberFrom(0, 65_535), 0)
    .option('--record <file>', 'write what is done and shown into a file')
    .addOption(
      new Option(
        '--play <file>',
        'play such a file and say what is different, without a page',
      ).conflicts('record'),
    )
    .option('--workspace', 'let it write into your workspace, instead of a copy')
    .addHelpText('after', SIMULATE_HELP);
}

const WHY_HELP = `
Examples:
  parley why last                     the newest message of a person
  parley why telegram:42/1207         message 1207 of the Telegram chat 42
  parley why 1207                     the same, where no other chat has such a message
  parley why turn_01k...              the first message of a turn

It shows no text of messages, and no arguments or results of tools.`;

function describeStatus(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/status.ts'));
  const how = 'how the running gateway is doing; 0: all is well, 1: something is not, 3: none runs';
  withJson(add(program, 'status', how, () => work((m, cli) => m.status(cli))));
  const why = 'what became of a message, stage by stage, or the exact reason for silence';
  const asked = using(run, () => import('./commands/why.ts'));
  const asking = add(program, 'why', why, (message: string) =>
    asked((m, cli) => m.why(cli, message)),
  );
  withJson(asking)
    .argument('<message>', 'its id, channel:chat/id, a turn, or last')
    .addHelpText('after', WHY_HELP);
  const storage = 'what takes how much in the database, how long it is kept, and what is old';
  withJson(add(program, 'storage', storage, () => work((m, cli) => m.storage(cli))));
}

const REPORT_HELP = `
Secrets, names, ids, messages and paths are hidden: only what is written in the program of Parley itself is shown.
Look through the file before you send it.`;

function describeLogs(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/logs.ts'));
  const what = 'the last lines of the log, of all processes that keep them in this data folder';
  const logs = add(program, 'logs', what, (flags: LogsFlags) =>
    work((m, cli) => m.logs(cli, flags)),
  );
  withJson(logs)
    .option('--follow', 'and those that come, until Ctrl-C')
    .addOption(
      new Option('--level <level>', 'the lowest')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('debug'),
    )
    .option('--channel <name>', 'of one channel, such as telegram')
    .option('--chat <conversation>', 'of one conversation, such as telegram:default:42')
    .option('--text <text>', 'that contain it')
    .option('--limit <count>', 'how many', numberFrom(1, 100_000), 100);
  const reporting = using(run, () => import('./commands/report/report.ts'));
  const bundle = 'write a bundle for a bug report, without secrets, names and texts';
  add(program, 'report', bundle, ({ out }: { readonly out?: string }) =>
    reporting((m, cli) => m.report(cli, out)),
  )
    .option('--out <file>', 'where to (default: parley-report.tar.gz in this folder)')
    .addHelpText('after', REPORT_HELP);
}

const USAGE_HELP = `
Examples:
  parley usage                                  the last 30 days
  parley usage --by person --days 7             who used most in a week
  parley usage --by model --until 2026-10-31 --days 31

in and out are tokens, cached those of "in" that the provider had in its cache. p50 and p95: half and 95 % of the
answers were committed within that time after the message was accepted; sending them is not included. The last
lines are the caps of the settings and what was used of them today.`;

function describeUsage(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/usage.ts'));
  const what = 'tokens, money, turns and latency by day, person, chat, model, channel or agent';
  const groupings = ['day', 'person', 'chat', 'model', 'channel', 'agent'];
  const usage = add(program, 'usage', what, (flags: InputOf<'usage/report'>) =>
    work((m, cli) => m.usage(cli, flags)),
  );
  withJson(usage)
    .addOption(new Option('--by <what>', 'one line for each').choices(groupings).default('day'))
    .option('--days <count>', 'how many', numberFrom(1, 400), 30)
    .option('--until <date>', 'the last of them, such as 2026-11-21; today without it', isoDate)
    .addHelpText('after', USAGE_HELP);
}

const CHANNELS_HELP = `
An account is CHANNEL or CHANNEL/NAME, such as telegram or telegram/work. What is paused stays so after a restart.`;

function describeChannels(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/channels.ts'));
  const what = 'accounts and how they are doing, people who wait, groups that were seen';
  const channels = withJson(add(program, 'channels', what)).addHelpText('after', CHANNELS_HELP);
  addDefault(channels, 'list')
    .description('all of it')
    .action(() => work((m, cli) => m.listChannels(cli)));
  const change = (action: 'pause' | 'resume' | 'reconnect', description: string) =>
    add(channels, `${action} <account>`, description, (account: string) =>
      work((m, cli) => m.changeChannel(cli, action, account)),
    );
  change('pause', 'disconnect it; its messages wait at the platform');
  change('resume', 'connect a paused one again');
  change('reconnect', 'end its connection and open it again');
  const test = 'send a test message to the chat of an owner there';
  add(channels, 'test <account>', test, (account: string) =>
    work((m, cli) => m.testChannel(cli, account)),
  );
  const allow = 'allow a group that was seen: write it into the settings file, comments kept';
  add(channels, 'allow <account> <group>', allow, (account: string, group: string) =>
    work((m, cli) => m.allowGroup(cli, account, group)),
  );
}

const DOCTOR_HELP = `
It makes real calls: to the model (a few tokens), to each channel, to the database. Nothing is changed.
Exit code: 0 nothing has failed (there may be warnings), 1 something has. docs/doctor.md explains all checks.`;

function describeDoctor(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/checks/doctor.ts'));
  const what =
    'check everything (settings, model, channels, database, machine) and say how to fix it';
  const doctor = add(program, 'doctor', what, () => work((m, cli) => m.doctor(cli)));
  withJson(doctor).addHelpText('after', DOCTOR_HELP);
}

const AUDIT_HELP = `
Exit code: 0 nothing at warning or above, 1 warnings, 2 something critical, 3 it could not run.
docs/audit.md lists all checks.`;

function describeAudit(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/checks/audit.ts'));
  const what = 'check this installation for security weaknesses, and say what to do about them';
  const fix = 'remove rights of other users on files of this installation; nothing else is changed';
  const audit = add(program, 'audit', what, (flags: AuditFlags) =>
    work((m, cli) => m.audit(cli, flags)),
  );
  withJson(audit).option('--fix', fix).addHelpText('after', AUDIT_HELP);
  const accept = 'accept the current tool descriptions of an MCP server';
  withoutJson(
    add(audit, 'accept <server>', accept, (server: string) =>
      work((m, cli) => m.auditAccept(cli, server)),
    ),
  );
}

const DEAD_HELP = `
Examples:
  parley dead                        what was given up, and why
  parley dead show 17                all of dead letter 17
  parley dead replay 17 18           send them again, in the order in which they were to come
  parley dead replay --all           all but what may have arrived already
  parley dead replay 19 --allow-duplicates  although it may have arrived: it may come twice
  parley dead drop --all --kind unanswered`;

function describeDead(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/dead.ts'));
  const what = 'what could not be delivered or answered: list, show, replay, drop';
  const dead = withJson(add(program, 'dead', what)).addHelpText('after', DEAD_HELP);
  addDefault(dead, 'list')
    .description('open dead letters, the newest first')
    .option('--limit <count>', 'how many', numberFrom(1, 50), 20)
    .option('--before <number>', 'those that are older than this dead letter', idNumber)
    .action(({ limit, before }: { readonly limit: number; readonly before?: number }) =>
      work((m, cli) => m.listDead(cli, limit, before)),
    );
  add(dead, 'show', 'all of one dead letter', (id: number) =>
    work((m, cli) => m.showDead(cli, id)),
  ).argument('<number>', '', idNumber);
  const settling = (action: 'replay' | 'drop', description: string) => {
    const command: Command = add(dead, action, description, (ids: number[], flags: Settling) => {
      if ((flags.all === true) === ids.length > 0) {
        command.error(`Say which: "parley dead ${action} 17 18", or --all.`);
      }
      if (ids.length > 200) command.error('Take fewer numbers at once, or --all.');
      if (flags.kind !== undefined && !flags.all) command.error('--kind goes with --all.');
      return work((m, cli) => m.settleDead(cli, action, ids, flags));
    });
    return command
      .argument('[numbers...]', '', (text, before: number[]) => [...before, idNumber(text)], [])
      .option('--all', 'all of them')
      .addOption(
        new Option('--kind <kind>', 'only these').choices(['refused', 'uncertain', 'unanswered']),
      );
  };
  settling('replay', 'send it again, or ask it again').option(
    '--allow-duplicates',
    'also what may have arrived already, and then comes twice',
  );
  settling('drop', 'give it up for good: it is no longer listed, and /why still shows it');
}

function describeFiles(program: Command, { run }: Runs): void {
  const backup = using(run, () => import('./commands/backup/backup.ts'));
  const restore = using(run, () => import('./commands/backup/restore.ts'));
  const importing = using(run, () => import('./commands/import/import.ts'));
  const config = using(run, () => import('./commands/config.ts'));
  const whole =
    'back up everything into one file (.tar.gz), also while Parley runs; not for PostgreSQL';
  add(program, 'backup <file>', whole, (file: string) => backup((m, cli) => m.backup(cli, file)));
  const back =
    'restore a backup; a running Parley ends first, and the current state is moved aside';
  add(program, 'restore <file>', back, (file: string, flags: RestoreFlags) =>
    restore((m, cli) => m.restore(cli, file, flags)),
  )
    .option(
      '--continue',
      'nothing has run since the backup was made: continue its unfinished work instead of holding it back',
    )
    .option('--with-settings', 'also replace existing settings by those of the backup')
    .option('--yes', 'do not ask before a running Parley ends')
    .option(
      '--dry-run',
      'check the file and show what a restore would do, without changing anything',
    );
  const other = ofOneAgent(add(program, 'import', 'take over the workspace of another agent'));
  for (const agent of ['openclaw', 'neomagi'] as const) {
    const name = agent === 'openclaw' ? 'OpenClaw' : 'NeoMAGI';
    const take = `say what of a workspace of ${name} is used; the original is left as it is`;
    add(other, agent, take, (path: string, { yes }: { readonly yes?: boolean }) =>
      importing((m, cli) => m.importWorkspace(cli, agent, path, yes)),
    )
      .argument('<folder>', 'the workspace, or the folder that holds it')
      .option('--yes', 'copy it into the workspace; files that are there stay');
  }
  const settings = withJson(add(program, 'config', 'work with the settings file'));
  const check = 'say all that is wrong with the settings, without starting; 0: nothing is';
  add(settings, 'check', check, () => config((m, cli) => m.configCheck(cli)));
  const upgrade =
    'write an older settings file as this Parley has it; comments and the old file stay';
  add(settings, 'upgrade', upgrade, () => config((m, cli) => m.configUpgrade(cli)));
}

function describeCompletion(program: Command, { bare }: Runs): void {
  const work = using(bare, () => import('./commands/completion.ts'));
  const what = 'print a script with which a shell completes commands and options';
  add(program, 'completion', what, (shell: Shell) =>
    work((m, cli) => m.completion(cli, program, shell)),
  )
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', COMPLETION_HELP);
}

const COMPLETION_HELP = `
bash: eval "$(parley completion bash)"    in ~/.bashrc
zsh:  source <(parley completion zsh)    in ~/.zshrc, after compinit
fish: parley completion fish | source    in ~/.config/fish/config.fish`;
