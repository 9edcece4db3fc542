import type { CronWish } from '@parley/contracts';
import type { Command } from 'commander';
import type { Json, Runs } from './cli.ts';
import type { MemoryOrder } from './commands/memory.ts';
import type { CronWork } from './commands/schedule.ts';
import type { SoulOrder } from './commands/soul.ts';
import type { PromptFlags } from './inspector/request.ts';

/** The commands about the agent: its plugins, skills, prompts, memory, soul and standing tasks. */
export function describeAgent(program: Command, runs: Runs): void {
  describeSkills(program, runs);
  describePrompt(program, runs);
  describeMemory(program, runs);
  describeSoul(program, runs);
  describeHeartbeat(program, runs);
  describeCron(program, runs);
}

function describeSkills(program: Command, { run }: Runs): void {
  const load = () => import('./commands/skills.ts');
  program
    .command('plugins')
    .description('what each plugin brings, or why it does not work; 0: all work')
    .action(() => run(async (cli) => (await load()).plugins(cli)));
  const skills = program
    .command('skills')
    .description('each skill with its source, its state and why; 0: fine, 1: one is refused')
    .action(() => run(async (cli) => (await load()).skills(cli, undefined)));
  skills
    .command('show')
    .description('one skill in full, with its text; 1: there is none of that name')
    .argument('<name>')
    .action((name: string) => run(async (cli) => (await load()).skills(cli, name)));
}

const PROMPT_HELP = `
Examples:
  parley prompt --last                                      the last prompt of the model
  parley prompt --list --chat telegram:default:42           the turns of one chat
  parley prompt --turn turn_x --full                        the whole text of that turn
  parley prompt --diff                                      what changed between the last two turns
  parley prompt --channel discord --chat group --user 123   the prompt there, as a preview
  parley prompt --channel web --layout zeus --mode minimal  another layout, for a sub-agent

A preview is the first turn of a new session. Nothing is written for it.`;

function describePrompt(program: Command, { run }: Runs): void {
  program
    .command('prompt')
    .description('the exact prompt of a past turn, or a preview')
    .option('--list', 'the last turns; --limit says how many')
    .option('--last', 'the newest turn; with --chat of that chat')
    .option('--turn <id>', 'a turn by its id')
    .option('--message <id>', 'the turn that answered a message, by the id the platform gave it')
    .option('--diff [turns...]', 'two turns side by side; without ids the last two of a chat')
    .option('--channel <name>', 'a preview: who would write where, with what follows')
    .option('--chat <type>', 'direct, group, channel or thread; of past turns: which chat')
    .option('--chat-id <id>', 'the platform’s id of the chat')
    .option('--title <text>', 'what the group is called')
    .option('--user <id>', 'the platform’s id of the sender; owners are known by the settings')
    .option('--name <text>', 'what that person is called')
    .option('--text <text>', 'what they write')
    .option('--account <name>', 'which account of the channel')
    .option('--layout <name>', 'another layout than that of the settings')
    .option('--mode <mode>', 'full, minimal (as for sub-agents) or none')
    .option('--heartbeat', 'as in a heartbeat run')
    .option('--limit <number>', 'so many turns of --list')
    .option('--full', 'the whole text, not only the layers')
    .option('--json', 'for programs')
    .addHelpText('after', PROMPT_HELP)
    .action((flags: PromptFlags) =>
      run(async (cli) => (await import('./commands/prompt.ts')).prompt(cli, flags)),
    );
}

function describeMemory(program: Command, { run }: Runs): void {
  const work = (order: MemoryOrder) =>
    run(async (cli) => (await import('./commands/memory.ts')).memory(cli, order));
  const memory = program.command('memory').description('what the agent has saved');
  memory
    .command('list')
    .description('what is saved in memory/, as the owner sees it')
    .action(() => work({ kind: 'list' }));
  memory
    .command('search')
    .description('memories, notes and knowledge by words; 1: nothing was found')
    .argument('<words...>')
    .action((words: readonly string[]) => work({ kind: 'search', words: words.join(' ') }));
  memory
    .command('rebuild')
    .description('build the index again from the files')
    .action(() => work({ kind: 'rebuild' }));
  memory
    .command('versions')
    .description('what MEMORY.md was before, the newest first, and why it changed')
    .action(() => work({ kind: 'versions' }));
  memory
    .command('diff')
    .description('what has changed in MEMORY.md since a version; without one, since the last')
    .argument('[version]')
    .action((version: string | undefined) => work({ kind: 'diff', version }));
  memory
    .command('restore')
    .description('put MEMORY.md back to a version; what is in it now is kept as one')
    .argument('<version>')
    .action((version: string) => work({ kind: 'restore', version }));
}

const NUMBERED = [
  ['show', 'the whole text of a version'],
  ['diff', 'what a version changes'],
  ['apply', 'put a proposal that has passed into use now'],
  ['veto', 'say no to a proposal'],
  ['rollback', 'go back to a version that was in use; that makes a new one'],
] as const;

function describeSoul(program: Command, { run }: Runs): void {
  const work = (order: SoulOrder) =>
    run(async (cli) => (await import('./commands/soul.ts')).soul(cli, order));
  const soul = program
    .command('soul')
    .description('SOUL.md: its versions, and proposals for another one');
  soul
    .command('list', { isDefault: true })
    .description('all versions, the newest first: state, score, author, reason')
    .action(() => work({ kind: 'list' }));
  for (const [kind, description] of NUMBERED) {
    soul
      .command(kind)
      .description(description)
      .argument('<number>')
      .action((number: string) => work({ kind, number }));
  }
  soul
    .command('propose')
    .description('propose the text of a file; the first one of all is v0-seed')
    .argument('<file>')
    .option('--reason <words>', 'why', 'proposed on the command line')
    .action((file: string, { reason }: { reason: string }) =>
      work({ kind: 'propose', file, reason }),
    );
}

function describeHeartbeat(program: Command, { run }: Runs): void {
  const load = () => import('./commands/schedule.ts');
  const heartbeat = program
    .command('heartbeat')
    .description('standing tasks of HEARTBEAT.md: last runs, next runs, why not now')
    .option('--json', 'as JSON')
    .action(({ json }: Json) => run(async (cli) => (await load()).heartbeat(cli, json)));
  heartbeat
    .command('now')
    .description('run the named task now, or the one that is due; 1: none started, 3: nothing runs')
    .argument('[task...]')
    .option('--json', 'as JSON')
    .action((words: readonly string[], flags: Json) => {
      const { json } = { ...heartbeat.opts<Json>(), ...flags };
      return run(async (cli) => (await load()).heartbeatNow(cli, words.join(' '), json));
    });
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
  parley cron add "Dinner!" --at 19:30 --to family`;

function describeCron(program: Command, { run }: Runs): void {
  const work = (what: CronWork) =>
    run(async (cli) => (await import('./commands/schedule.ts')).cron(cli, what));
  const cron = program
    .command('cron')
    .description('reminders and jobs that run at a time to come')
    .addHelpText('after', CRON_HELP);
  cron
    .command('list', { isDefault: true })
    .description('all jobs: when they run next, and how the last run ended')
    .action(() => work({ action: 'list' }));
  for (const [action, description] of NAMED) {
    cron
      .command(action)
      .description(description)
      .argument('<id>')
      .action((id: string) => work({ action, id }));
  }
  cron
    .command('add')
    .description('have something done at a time to come; once, every so often, or by an expression')
    .argument('<task>', 'what is to be done then')
    .option('--at <time>', 'once: "2026-11-22 18:00", "18:00", "in 20 min"')
    .option('--every <interval>', 'again and again: "30 min", "daily at 8:00"')
    .option('--cron <fields>', 'again and again: "0 9 * * mon-fri"')
    .option('--time-zone <name>', 'where the time counts (default: the agent’s time zone)')
    .option('--title <words>', 'what lists call it')
    .option(
      '--to <chat>',
      'a chat that tools.message.chats names, or channel:chatId (default: the owner’s)',
    )
    .action((task: string, { to, ...wish }: CronWish & { readonly to?: string }) =>
      work({ action: 'add', wish: { ...wish, task }, to }),
    );
}
