import type { Command } from 'commander';
import type { DataFolder } from '../data-folder.ts';
import type { PromptFlags } from './prompt-request.ts';

/** Does something with the data folder and ends with an exit code. */
type Run = (folder: DataFolder) => Promise<number>;

/** Describes `parley prompt` to the command line; what it does is loaded when it is used. */
export function addPromptCommand(
  program: Command,
  action: (run: Run) => () => Promise<void>,
  print: (text: string) => void,
): void {
  program
    .command('prompt')
    .description('the exact prompt of a past turn, or of one that might be')
    .option('--list', 'the last turns; --limit says how many')
    .option('--last', 'the newest turn; with --chat of that chat')
    .option('--turn <id>', 'a turn by its id')
    .option('--message <id>', 'the turn that answered a message, by the id the platform gave it')
    .option('--diff [turns...]', 'two turns side by side; without ids the last two of a chat')
    .option('--channel <name>', 'a turn that might be: who would write where, with what follows')
    .option('--chat <type>', 'direct, group, channel or thread; of past turns: which chat')
    .option('--chat-id <id>', 'the platform’s id of the chat')
    .option('--title <text>', 'what the group is called')
    .option('--user <id>', 'the platform’s id of who writes; owners are known by the settings')
    .option('--name <text>', 'what that person is called')
    .option('--text <text>', 'what they write')
    .option('--account <name>', 'which account of the channel')
    .option('--layout <name>', 'another layout than that of the settings')
    .option('--mode <mode>', 'full, minimal (as for sub-agents) or none')
    .option('--heartbeat', 'as if a standing task were looked after')
    .option('--limit <number>', 'so many turns of --list')
    .option('--full', 'every word, not only the layers')
    .option('--json', 'for programs')
    .addHelpText('after', HELP)
    .action((flags: PromptFlags) =>
      action(async (folder) =>
        (await import('./prompt.ts')).promptCommand(folder, process.env, flags, print),
      )(),
    );
}

const HELP = `
Examples:
  parley prompt --last                                      what the model was told last
  parley prompt --list --chat telegram:default:42           the turns of one chat
  parley prompt --turn turn_x --full                        every word of that turn
  parley prompt --diff                                      what changed between the last two turns
  parley prompt --channel discord --chat group --user 123   what it would be told there
  parley prompt --channel web --layout zeus --mode minimal  another layout, for a sub-agent

A turn that might be is the first of a new session. Nothing is written for it.`;
