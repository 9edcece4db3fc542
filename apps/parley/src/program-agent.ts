import type { CronFields } from '@parley/core';
import { type Command, Option } from 'commander';
import {
  add,
  addDefault,
  idNumber,
  numberFrom,
  ofOneAgent,
  type Runs,
  using,
  withJson,
  withoutJson,
} from './cli.ts';
import type { ConvertFlags } from './commands/heartbeat-convert.ts';
import type { PromptFlags } from './commands/prompt/prompt.ts';

export function describeAgent(program: Command, runs: Runs): void {
  describeAgents(program, runs);
  describeSkills(program, runs);
  describePrompt(program, runs);
  describeMemory(program, runs);
  describeSoul(program, runs);
  describeHeartbeat(program, runs);
  describeCron(program, runs);
  describeHooks(program, runs);
}

const AGENTS_HELP = `
Examples:
  parley agents                                  all agents, and what each answers
  parley agents telegram:-1001234567890          who answers in this chat, and by what rule
  parley agents discord:42 --person 7 --account work`;

interface AgentsFlags {
  readonly person?: string;
  readonly account: string;
}

function describeAgents(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/agents.ts'));
  const what = 'the agents, and what each answers; for a chat, who answers there and by what rule';
  add(program, 'agents [chat]', what, (chat: string | undefined, flags: AgentsFlags) =>
    work((m, cli) => (chat === undefined ? m.listAgents(cli) : m.whoAnswers(cli, chat, flags))),
  )
    .option('--person <id>', 'who writes there; without it anybody without a rule of their own')
    .option('--account <name>', 'which account of the channel', 'default')
    .option('--json', 'for programs')
    .addHelpText('after', AGENTS_HELP);
}

function describeSkills(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/skills.ts'));
  const plugins = 'what each plugin brings, or why it does not work; 0: all work';
  withJson(add(program, 'plugins', plugins, () => work((m, cli) => m.plugins(cli))));
  const each = 'each skill with its source, its state and why; 0: fine, 1: one is refused';
  const skills = add(program, 'skills', each, () => work((m, cli) => m.listSkills(cli)));
  withJson(ofOneAgent(skills));
  const one = 'one skill in full, with its text; 1: there is none of that name';
  add(skills, 'show <name>', one, (name: string) => work((m, cli) => m.showSkill(cli, name)));
}

const PROMPT_HELP = `
Examples:
  parley prompt --last                                      the last prompt of the model
  parley prompt --list --chat telegram:default:42           the turns of one chat
  parley prompt --turn turn_x --full                        the whole text of that turn
  parley prompt --diff                                      what changed between the last two turns
  parley prompt --channel discord --chat group --person 123 the prompt there, as a preview
  parley prompt --channel web --layout zeus --mode minimal  another layout, for a sub-agent
  parley prompt --channel web --agent support               the prompt of another agent

A preview is the first turn of a new session. Nothing is written for it.`;

/** Options that ask for past turns: one at a time. */
const PAST = [
  ['--list', 'the last turns; --limit says how many'],
  ['--last', 'the newest turn; with --chat of that chat'],
  ['--turn <id>', 'a turn by its id'],
  ['--message <id>', 'the turn that answered a message, by the id the platform gave it'],
  ['--diff [turns...]', 'two turns side by side; without ids the last two of a chat'],
] as const;

/** Options of a preview, which go with none of those. */
const PREVIEW = [
  ['--channel <name>', 'a preview: who would write where, with what follows'],
  ['--chat-id <id>', 'the platform’s id of the chat'],
  ['--title <text>', 'what the group is called'],
  ['--person <id>', 'the platform’s id of the sender; owners are known by the settings'],
  ['--name <text>', 'what that person is called'],
  ['--text <text>', 'what they write'],
  ['--account <name>', 'which account of the channel'],
  ['--layout <name>', 'another layout than that of the settings'],
  ['--mode <mode>', 'full, light, minimal (a sub-agent whose task is --text) or none'],
  ['--heartbeat', 'as in a heartbeat run'],
] as const;

function describePrompt(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/prompt/prompt.ts'));
  const what = 'the exact prompt of a past turn, or a preview';
  const prompt = add(program, 'prompt', what, (flags: PromptFlags) =>
    work((m, cli) => m.prompt(cli, flags)),
  );
  const past = PAST.map(([flags, text]) => new Option(flags, text));
  const preview = PREVIEW.map(([flags, text]) => new Option(flags, text));
  for (const option of past) {
    const others = [...past, ...preview].filter((other) => other !== option);
    prompt.addOption(option.conflicts(others.map((other) => other.attributeName())));
  }
  for (const option of preview) prompt.addOption(option);
  ofOneAgent(prompt)
    .option('--chat <type>', 'direct, group, channel or thread; of past turns: which chat')
    .option('--limit <number>', 'so many turns of --list', numberFrom(1, 1_000), 20)
    .option('--full', 'the whole text, not only the layers')
    .option('--json', 'for programs')
    .addHelpText('after', PROMPT_HELP);
}

function describeMemory(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/memory.ts'));
  const memory = withJson(ofOneAgent(add(program, 'memory', 'memories of the agent')));
  add(memory, 'list', 'all memories, as the owner sees them', () =>
    work((m, cli) => m.listMemories(cli)),
  );
  const search = 'memories, notes and knowledge by words; 1: nothing was found';
  add(memory, 'search <words...>', search, (words: readonly string[]) =>
    work((m, cli) => m.searchMemories(cli, words.join(' '))),
  );
  add(memory, 'rebuild', 'build the index again from the files', () =>
    work((m, cli) => m.rebuildIndex(cli)),
  );
  add(memory, 'versions', 'earlier versions of MEMORY.md, newest first, and why each changed', () =>
    work((m, cli) => m.listVersions(cli)),
  );
  const diff = 'what has changed in MEMORY.md since a version; without one, since the last';
  add(memory, 'diff [version]', diff, (version: string | undefined) =>
    work((m, cli) => m.diffVersion(cli, version)),
  );
  const restore = 'put MEMORY.md back to a version; what is in it now is kept as one';
  add(memory, 'restore <version>', restore, (version: string) =>
    work((m, cli) => m.restoreVersion(cli, version)),
  );
}

const NUMBERED = [
  ['show', 'the whole text of a version'],
  ['diff', 'what a version changes'],
  ['apply', 'put a proposal that has passed into use now'],
  ['veto', 'say no to a proposal'],
  ['rollback', 'go back to a version that was in use; that makes a new one'],
] as const;

function describeSoul(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/soul.ts'));
  const what = 'SOUL.md: its versions, and proposals for another one';
  const soul = withJson(ofOneAgent(add(program, 'soul', what)));
  addDefault(soul, 'list')
    .description('all versions, the newest first: state, score, author, reason')
    .action(() => work((m, cli) => m.listSouls(cli)));
  for (const [action, description] of NUMBERED) {
    add(soul, action, description, (number: number) =>
      work((m, cli) =>
        action === 'show' || action === 'diff'
          ? m.showSoul(cli, number, action === 'show' ? 'text' : 'diff')
          : m.decideSoul(cli, number, action),
      ),
    ).argument('<number>', '', idNumber);
  }
  const propose = 'propose the text of a file; the first one of all is v0-seed';
  add(soul, 'propose <file>', propose, (file: string, { reason }: { reason: string }) =>
    work((m, cli) => m.proposeSoul(cli, file, reason)),
  ).option('--reason <words>', 'why', 'proposed on the command line');
}

const CONVERT_HELP = `
A HEARTBEAT.md of another agent works as it is, as far as it shows its tasks. The old text is kept as a version.

Examples:
  parley heartbeat convert --dry-run          what it would be
  parley heartbeat convert                    the same, and a question
  parley heartbeat convert --from new.md      a text of your own`;

function describeHeartbeat(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/schedule.ts'));
  const what = 'standing tasks of HEARTBEAT.md: last runs, next runs, why not now';
  const heartbeat = add(program, 'heartbeat', what, () => work((m, cli) => m.heartbeat(cli)));
  withJson(ofOneAgent(heartbeat));
  const now = 'run the named task now, or the one that is due; 1: none started, 3: nothing runs';
  add(heartbeat, 'now [task...]', now, (words: readonly string[]) =>
    work((m, cli) => m.heartbeatNow(cli, words.join(' '))),
  );
  const converting = using(run, () => import('./commands/heartbeat-convert.ts'));
  const convert = 'have the model propose HEARTBEAT.md in Parley’s form, to approve; 1: not done';
  const converter = add(heartbeat, 'convert', convert, (flags: ConvertFlags) =>
    converting((m, cli) => m.convertHeartbeat(cli, flags)),
  );
  withoutJson(converter)
    .option('--dry-run', 'only show the proposal and the tasks that it makes')
    .option('--yes', 'use it without a question')
    .option('--from <file>', 'propose the text of this file; no model is asked')
    .addHelpText('after', CONVERT_HELP);
}

const NAMED = [
  ['show', 'one job with all that it is to do'],
  ['pause', 'keep a job from running'],
  ['resume', 'let a paused job run again'],
  ['remove', 'forget a job'],
  ['run', 'run a job at once, whenever it is due'],
] as const;

const CRON_HELP = `
Examples:
  parley cron add "Remind me to call Bo" --at "2026-11-22 18:00"
  parley cron add "Summarize the news" --every "daily at 8:00"
  parley cron add "Plan the week" --cron "0 9 * * mon" --time-zone Europe/Vienna
  parley cron add "Dinner!" --at 19:30 --to family
  parley cron add "Count open orders" --every "1 h" --format orders.schema.json`;

function describeCron(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/schedule.ts'));
  const what = 'reminders and jobs that run at a time to come';
  const cron = withJson(add(program, 'cron', what)).addHelpText('after', CRON_HELP);
  addDefault(cron, 'list')
    .description('all jobs: when they run next, and how the last run ended')
    .action(() => work((m, cli) => m.listJobs(cli)));
  const operate = using(run, () => import('./operate.ts'));
  for (const [action, description] of NAMED) {
    add(cron, `${action} <id>`, description, (id: string) =>
      operate((m, cli) => m.operateText(cli, `cron/${action}`, { id })),
    );
  }
  const added = 'have something done at a time to come; once, every so often, or by an expression';
  const made = add(cron, 'add', added, (task: string, flags: JobFlags) =>
    work((m, cli) => m.addJob(cli, jobOf({ ...flags, task }))),
  ).argument('<task>', 'what is to be done then');
  withFields(ofOneAgent(made), 'default: the owner’s');
  const changed = add(
    cron,
    'change <id>',
    'another time, task, title or chat; what is not named stays as it is',
    (id: string, flags: JobFlags) => work((m, cli) => m.changeJob(cli, { ...jobOf(flags), id })),
  ).option('--task <text>', 'what is to be done then');
  withFields(changed, 'default: the same');
}

type JobFlags = CronFields & { readonly to?: string; readonly agent?: string };

function jobOf({ to, agent: _, ...fields }: JobFlags) {
  return { fields, to };
}

function describeHooks(program: Command, { run }: Runs): void {
  const work = using(run, () => import('./commands/hooks.ts'));
  const hooks = withJson(add(program, 'hooks', 'events from outside, and what came of them'));
  ofOneAgent(addDefault(hooks, 'list'))
    .description('each hook: where it reports, its last event and the outcome')
    .action(() => work((m, cli) => m.listHooks(cli)));
  const sends = 'send the running Parley an event; 0: taken, 1: not, 3: nothing runs';
  add(hooks, 'test <name>', sends, (name: string, { body }: { readonly body?: string }) =>
    work((m, cli) => m.testHook(cli, name, body)),
  ).option('--body <file>', 'what is sent (default: a sample)');
}

/** The options of a job that is made or changed. */
function withFields(command: Command, usualChat: string): void {
  command
    .option('--at <time>', 'once: "2026-11-22 18:00", "18:00", "in 20 min"')
    .option('--every <interval>', 'again and again: "30 min", "daily at 8:00"')
    .option('--cron <fields>', 'again and again: "0 9 * * mon-fri"')
    .option('--time-zone <name>', 'where the time counts (default: the agent’s time zone)')
    .option('--title <words>', 'what lists call it')
    .option(
      '--format <file>',
      'answers must fit this JSON Schema; or json for any object, none for text',
    )
    .option(
      '--to <chat>',
      `a chat that tools.message.chats names, or channel:chatId (${usualChat})`,
    );
}
