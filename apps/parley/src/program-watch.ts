import type { InputOf } from '@parley/gateway/operations';
import { type Command, Option } from 'commander';
import {
  addCommand,
  addDefault,
  addExamples,
  addJsonOption,
  type CommandRunners,
  createModuleRunner,
  createNumberParser,
  parseIdNumber,
  parseIsoDate,
  removeJsonOption,
} from './cli.ts';
import type { AuditFlags } from './commands/checks/audit.ts';
import type { SettleFlags } from './commands/dead.ts';
import type { LogsFlags } from './commands/logs.ts';

/**
 * Adds the commands that show the health of the gateway, the outcome of a message, and the size of
 * the database.
 */
export function addStatusCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/status.ts'));
  const how = 'show gateway health (exit 0 healthy, 1 degraded, 3 not running)';
  addJsonOption(addCommand(program, 'status', how, () => work((m, cli) => m.showStatus(cli))));
  const why = 'explain what happened to a message, stage by stage, or why there was no answer';
  const asked = createModuleRunner(run, () => import('./commands/why.ts'));
  const asking = addCommand(program, 'why', why, (message: string) =>
    asked((m, cli) => m.showWhy(cli, message)),
  );
  addExamples(
    addJsonOption(asking).argument(
      '<message>',
      'a message id, channel:chat/id, a turn id, or last',
    ),
    [
      ['parley why last', 'the newest message from a person'],
      ['parley why telegram:42/1207', 'message 1207 in the Telegram chat 42'],
      ['parley why 1207', 'the same message, if no other chat contains its id'],
      ['parley why turn_01k...', 'the first message of a turn'],
    ],
    'The output does not contain message text, tool arguments or tool results.',
  );
  const storage = 'show database size, retention and expired rows';
  addJsonOption(
    addCommand(program, 'storage', storage, () => work((m, cli) => m.showStorage(cli))),
  );
}

export function addLogsCommand(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/logs.ts'));
  const what = 'print the last log lines of all processes that store logs in this data folder';
  const logs = addCommand(program, 'logs', what, (flags: LogsFlags) =>
    work((m, cli) => m.printLogs(cli, flags)),
  );
  addJsonOption(logs)
    .option('-f, --follow', 'keep printing new lines until Ctrl-C')
    .option(
      '-n, --limit <count>',
      'print this many of the most recent lines',
      createNumberParser(0, 100_000),
      100,
    )
    .addOption(
      new Option('--level <level>', 'only lines of this level and above')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('debug'),
    )
    .option('--channel <name>', 'only lines of this channel, such as telegram')
    .option('--chat <conversation>', 'only lines of this conversation, such as telegram:default:42')
    .option('--text <text>', 'only lines containing this text');
  addExamples(logs, [
    ['parley logs -n 50 -f', 'the last 50 lines, then new lines as they arrive'],
    ['parley logs -f -n 0 --level warn', 'only new warnings and errors'],
    ['parley logs --text ECONNREFUSED --json', 'search the log and print JSON for programs'],
  ]);
}

const REPORT_HELP = `
Secrets, names, ids, messages and paths are hidden: only text from Parley’s own code is included.
Check the file before you send it.`;

export function addReportCommand(program: Command, { run }: CommandRunners): void {
  const reporting = createModuleRunner(run, () => import('./commands/report/report.ts'));
  const bundle = 'write a bundle for a bug report, without secrets, names or message text';
  addCommand(program, 'report', bundle, ({ out }: { readonly out?: string }) =>
    reporting((m, cli) => m.writeReport(cli, out)),
  )
    .option('--out <file>', 'write it to this file (default: parley-report.tar.gz in this folder)')
    .addHelpText('after', REPORT_HELP);
}

const USAGE_NOTES = `"in" and "out" are tokens; "cached" is the part of "in" that the provider had in its cache. Half of the answers (p50) and 95 %
of the answers (p95) were committed within the given time after the message was accepted, without the time for sending.
The last lines show the caps from the settings and how much of them was used today.`;

export function addUsageCommand(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/usage.ts'));
  const what = 'show tokens, cost, turns and latency by day, person, chat, model, channel or agent';
  const groupings = ['day', 'person', 'chat', 'model', 'channel', 'agent'];
  const usage = addCommand(program, 'usage', what, (flags: InputOf<'usage/report'>) =>
    work((m, cli) => m.showUsage(cli, flags)),
  );
  addJsonOption(usage)
    .addOption(
      new Option('--by <what>', 'print one line for each').choices(groupings).default('day'),
    )
    .option('--days <count>', 'how many days', createNumberParser(1, 400), 30)
    .option('--until <date>', 'the last day, such as 2026-11-21 (default: today)', parseIsoDate);
  addExamples(
    usage,
    [
      ['parley usage', 'the last 30 days'],
      ['parley usage --by person --days 7', 'who used the most in a week'],
      ['parley usage --by model --until 2026-10-31 --days 31', 'a month by model'],
    ],
    USAGE_NOTES,
  );
}

const DOCTOR_HELP = `
The checks make real calls to the model (a few tokens), to each channel and to the database. Nothing is changed.
The exit code is 0 if no check failed, even if there are warnings, and 1 otherwise. docs/doctor.md explains all checks.`;

export function addDoctorCommand(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/checks/doctor.ts'));
  const what =
    'check everything (settings, model, channels, database, machine) and explain how to fix problems';
  const doctor = addCommand(program, 'doctor', what, () => work((m, cli) => m.runDoctor(cli)));
  addJsonOption(doctor).addHelpText('after', DOCTOR_HELP);
}

const AUDIT_NOTES = `The exit code is 0 without warnings, 1 with warnings, 2 with critical findings, and 3 if the audit could not run.
docs/audit.md lists all checks.`;

export function addAuditCommand(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/checks/audit.ts'));
  const what = 'check this installation for security weaknesses, and explain what to do about them';
  const fix =
    'remove other users’ access to files of this installation, without changing anything else';
  const audit = addCommand(program, 'audit', what, (flags: AuditFlags) =>
    work((m, cli) => m.runAuditCommand(cli, flags)),
  );
  addJsonOption(audit).option('--fix', fix);
  const accept = 'accept the current tool descriptions of an MCP server';
  removeJsonOption(
    addCommand(audit, 'accept <server>', accept, (server: string) =>
      work((m, cli) => m.acceptServer(cli, server)),
    ),
  );
  addExamples(
    audit,
    [
      ['parley audit', 'run all checks'],
      ['parley audit accept github', 'accept the current tools of the MCP server github'],
    ],
    AUDIT_NOTES,
  );
}

export function addDeadLetterCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/dead.ts'));
  const what = 'list, show, replay or drop messages that could not be delivered or answered';
  const dead = addJsonOption(addCommand(program, 'dead', what));
  addDefault(dead, 'list', 'list open dead letters, newest first')
    .option('-n, --limit <count>', 'list this many', createNumberParser(1, 50), 20)
    .option('--before <number>', 'only those older than this dead letter', parseIdNumber)
    .action(({ limit, before }: { readonly limit: number; readonly before?: number }) =>
      work((m, cli) => m.listDeadLetters(cli, limit, before)),
    );
  addCommand(dead, 'show', 'show one dead letter in full', (id: number) =>
    work((m, cli) => m.showDeadLetter(cli, id)),
  ).argument('<number>', 'the dead letter’s number in the list', parseIdNumber);
  const settling = (action: 'replay' | 'drop', description: string) => {
    const command: Command = addCommand(
      dead,
      action,
      description,
      (ids: number[], flags: SettleFlags) => {
        if ((flags.all === true) === ids.length > 0) {
          command.error(
            `error: name the dead letters, as in "parley dead ${action} 17 18", or use --all`,
          );
        }
        if (ids.length > 200)
          command.error('error: give at most 200 numbers at once, or use --all');
        if (flags.kind !== undefined && !flags.all)
          command.error('error: --kind can only be used with --all');
        return work((m, cli) => m.settleDeadLetters(cli, action, ids, flags));
      },
    );
    return command
      .argument(
        '[numbers...]',
        'the dead letters’ numbers in the list',
        (text, before: number[]) => [...before, parseIdNumber(text)],
        [],
      )
      .option('--all', 'act on all of them')
      .addOption(
        new Option('--kind <kind>', 'only this kind').choices([
          'refused',
          'uncertain',
          'unanswered',
        ]),
      );
  };
  settling('replay', 'send them again, or answer them again').option(
    '--allow-duplicates',
    'also send what may have arrived already, so it may arrive twice',
  );
  settling('drop', 'drop dead letters: they are no longer listed, but /why still shows them');
  addExamples(dead, [
    ['parley dead', 'undelivered and unanswered messages, with the reasons'],
    ['parley dead show 17', 'show dead letter 17 in full'],
    ['parley dead replay 17 18', 'send them again, in their original order'],
    ['parley dead replay --all', 'replay all except those that may have arrived already'],
    ['parley dead replay 19 --allow-duplicates', 'send it even if it may arrive twice'],
    ['parley dead drop --all --kind unanswered', 'drop every unanswered message'],
  ]);
}
