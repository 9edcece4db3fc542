import type { CronFields } from '@parley/core';
import type { Command } from 'commander';
import {
  addAgentOption,
  addCommand,
  addDefault,
  addExamples,
  addJsonOption,
  type CommandRunners,
  createModuleRunner,
  removeJsonOption,
} from './cli.ts';
import type { ConvertFlags } from './commands/heartbeat-convert.ts';

const CONVERT_NOTES =
  'A HEARTBEAT.md from another agent works unchanged if its tasks can be recognized. The old text is saved as a version.';

export function addHeartbeatCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/schedule.ts'));
  const what =
    'show the standing tasks in HEARTBEAT.md, their last and next runs, and why no task runs now';
  const heartbeat = addCommand(program, 'heartbeat', what, () =>
    work((m, cli) => m.showHeartbeat(cli)),
  );
  addJsonOption(addAgentOption(heartbeat));
  const now =
    'run the named task now, or the one that is due (exit 1 if no task was started, 3 if no gateway is running)';
  addCommand(heartbeat, 'now [task...]', now, (words: readonly string[]) =>
    work((m, cli) => m.runHeartbeatNow(cli, words.join(' '))),
  );
  const converting = createModuleRunner(run, () => import('./commands/heartbeat-convert.ts'));
  const convert =
    'have the model propose a HEARTBEAT.md in Parley’s format for you to approve (exit 1 if it was not converted)';
  const converter = addCommand(heartbeat, 'convert', convert, (flags: ConvertFlags) =>
    converting((m, cli) => m.convertHeartbeat(cli, flags)),
  );
  removeJsonOption(converter)
    .option('--dry-run', 'only show the proposal and its tasks')
    .option('--yes', 'use the proposal without asking')
    .option('--from <file>', 'propose the text of this file instead of asking a model');
  addExamples(
    converter,
    [
      ['parley heartbeat convert --dry-run', 'show the proposal'],
      ['parley heartbeat convert', 'show the proposal without changing the file'],
      ['parley heartbeat convert --from new.md', 'propose your own text'],
    ],
    CONVERT_NOTES,
  );
  addExamples(heartbeat, [
    ['parley heartbeat', 'all tasks, and when they run'],
    ['parley heartbeat now water the plants', 'run the task "water the plants"'],
  ]);
}

const NAMED = [
  ['show', 'show one job and its whole task'],
  ['pause', 'stop a job from running until it is resumed'],
  ['resume', 'resume a paused job'],
  ['remove', 'remove a job'],
  ['run', 'run a job now, regardless of its schedule'],
] as const;

export function addCronCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/schedule.ts'));
  const what = 'list, add or change reminders and jobs';
  const cron = addJsonOption(addCommand(program, 'cron', what)).alias('jobs');
  const list = 'list all jobs: when they run next, and how the last run ended';
  addDefault(cron, 'list', list).action(() => work((m, cli) => m.listJobs(cli)));
  const operate = createModuleRunner(run, () => import('./operate.ts'));
  for (const [action, description] of NAMED) {
    addCommand(cron, `${action} <id>`, description, (id: string) =>
      operate((m, cli) => m.operateText(cli, `cron/${action}`, { id })),
    );
  }
  const added = 'add a job that runs once, at an interval, or by a cron expression';
  const made = addCommand(cron, 'add', added, (task: string, flags: JobFlags) =>
    work((m, cli) => m.addJob(cli, toJob({ ...flags, task }))),
  ).argument('<task>', 'what the agent should do');
  addJobFields(addAgentOption(made), 'default: the owner’s');
  const changed = addCommand(
    cron,
    'change <id>',
    'change the time, task, title or chat of a job and leave the rest unchanged',
    (id: string, flags: JobFlags) => work((m, cli) => m.changeJob(cli, { ...toJob(flags), id })),
  ).option('--task <text>', 'what the agent should do');
  addJobFields(changed, 'default: the same');
  addExamples(cron, CRON_EXAMPLES);
}

const CRON_EXAMPLES = [
  ['parley cron', 'all jobs'],
  ['parley cron add "Remind me to call Bo" --at "2026-11-22 18:00"', 'once'],
  ['parley cron add "Summarize the news" --every "daily at 8:00"', 'every morning'],
  ['parley cron add "Plan the week" --cron "0 9 * * mon" --time-zone Europe/Vienna', ''],
  ['parley cron add "Dinner!" --at 19:30 --to family', 'in another chat'],
  ['parley cron add "Count open orders" --every "1 h" --format orders.schema.json', ''],
  ['parley cron change 7Q2M --every "daily at 9:00"', 'change the time of job 7Q2M'],
  ['parley cron show 7Q2M', 'show that job in full'],
  ['parley cron pause 7Q2M', 'until you run "parley cron resume 7Q2M"'],
  ['parley cron run 7Q2M', 'now, once'],
  ['parley cron remove 7Q2M', ''],
] as const;

type JobFlags = CronFields & { readonly to?: string; readonly agent?: string };

function toJob({ to, agent: _, ...fields }: JobFlags) {
  return { fields, to };
}

export function addHookCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/hooks.ts'));
  const hooks = addJsonOption(
    addCommand(program, 'hooks', 'list or test hooks, through which other programs send events'),
  );
  const list = 'list each hook with its target chat, its last event and the outcome';
  addAgentOption(addDefault(hooks, 'list', list)).action(() => work((m, cli) => m.listHooks(cli)));
  const sends =
    'send an event to a hook (exit 0 if it was accepted, 1 if it was refused, 3 if no gateway is running)';
  addCommand(hooks, 'test <name>', sends, (name: string, { body }: { readonly body?: string }) =>
    work((m, cli) => m.testHook(cli, name, body)),
  ).option('--body <file>', 'send the content of this file (default: a sample)');
  addExamples(hooks, [
    ['parley hooks', 'all hooks and their last events'],
    ['parley hooks test deploy --body event.json', 'send this event to the hook "deploy"'],
  ]);
}

/** Adds the options shared by creating and changing a job. */
function addJobFields(command: Command, usualChat: string): void {
  command
    .option('--at <time>', 'run once: "2026-11-22 18:00", "18:00", "in 20 min"')
    .option('--every <interval>', 'repeat: "30 min", "daily at 8:00"')
    .option('--cron <fields>', 'repeat by a cron expression: "0 9 * * mon-fri"')
    .option('--time-zone <name>', 'the time zone for these times (default: the agent’s)')
    .option('--title <words>', 'the job’s name in lists')
    .option(
      '--format <file>',
      'require an answer in JSON that fits this schema; "json" allows any object, "none" allows text',
    )
    .option(
      '--to <chat>',
      `send the answer to a chat named in tools.message.chats, or to channel:chatId (${usualChat})`,
    );
}
