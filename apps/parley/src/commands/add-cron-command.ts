import type { CronWish } from '@parley/contracts';
import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';
import type { CronCommand } from './cron.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

const NAMED = [
  ['show', 'one job with all that it is to do'],
  ['pause', 'keep a job from running'],
  ['resume', 'let a paused job run again'],
  ['remove', 'forget a job'],
  ['run', 'run a job at once, whenever it is due'],
] as const;

const EXAMPLES = `
Examples:
  parley cron add "Remind me to call Bo" --at "2026-11-22 18:00"
  parley cron add "Sum up the news" --every "daily at 8:00"
  parley cron add "Plan the week" --cron "0 9 * * mon" --time-zone Europe/Vienna
  parley cron add "Dinner!" --at 19:30 --to family`;

/** Describes `parley cron` to the command line; what it does is loaded when it is used. */
export function addCronCommand(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  const run = (command: CronCommand) =>
    action(async (folder) =>
      (await import('./cron.ts')).cronCommand(folder, process.env, command, print),
    )();
  const cron = program
    .command('cron')
    .description('reminders and jobs that run at a time to come')
    .addHelpText('after', EXAMPLES);
  cron
    .command('list', { isDefault: true })
    .description('all jobs: when they run next, and how the last run ended')
    .action(() => run({ action: 'list' }));
  for (const [name, words] of NAMED) {
    cron
      .command(name)
      .description(words)
      .argument('<id>')
      .action((id: string) => run({ action: name, id }));
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
      run({ action: 'add', wish: { ...wish, task }, to }),
    );
}
