import { fileURLToPath } from 'node:url';
import { INSTALLATION } from '@parley/core/installation';
import { Argument, Command } from 'commander';
import { addCommand, addExamples, type CommandRunners, createModuleRunner } from './cli.ts';
import type { ShellName } from './commands/completion.ts';
import { acceptFormerOptions } from './former-options.ts';
import {
  addAgentCommands,
  addMemoryCommands,
  addPluginCommands,
  addPromptCommands,
  addSkillCommands,
  addSoulCommands,
  describeEval,
  describeReplay,
} from './program-agent.ts';
import { addConversationCommands } from './program-conversations.ts';
import {
  addBackupCommands,
  addConfigCommands,
  addImportCommands,
  describeUpgrade,
} from './program-files.ts';
import { addAccessCommands, addChannelCommands, addPeopleCommands } from './program-people.ts';
import { addServiceCommands, addSimulateCommand, addStartCommands } from './program-run.ts';
import { addCronCommands, addHeartbeatCommands, addHookCommands } from './program-scheduled.ts';
import {
  addAuditCommand,
  addDeadLetterCommands,
  addDoctorCommand,
  addLogsCommand,
  addReportCommand,
  addStatusCommands,
  addUsageCommand,
} from './program-watch.ts';
import { explainUsageErrors, rejectUnknownWord } from './usage-errors.ts';
import { formatVersion } from './version.ts';

type AddCommands = (program: Command, runs: CommandRunners) => void;

/** The commands, grouped by the headings in `parley --help`. */
const GROUPS: readonly (readonly [heading: string, commands: readonly AddCommands[]])[] = [
  ['Run:', [addStartCommands, addServiceCommands, addSimulateCommand]],
  ['Watch:', [addStatusCommands, addLogsCommand, addUsageCommand]],
  [
    'Diagnose and repair:',
    [addDoctorCommand, addAuditCommand, addDeadLetterCommands, addReportCommand],
  ],
  [
    'Channels and people:',
    [addChannelCommands, addConversationCommands, addAccessCommands, addPeopleCommands],
  ],
  [
    'Agent:',
    [
      addAgentCommands,
      addPromptCommands,
      describeReplay,
      describeEval,
      addMemoryCommands,
      addSoulCommands,
      addPluginCommands,
      addSkillCommands,
    ],
  ],
  ['Scheduled work and events:', [addCronCommands, addHeartbeatCommands, addHookCommands]],
  [
    'Settings and data:',
    [addConfigCommands, addBackupCommands, describeUpgrade, addImportCommands],
  ],
  ['Shell:', [addCompletionCommand, addHelpCommand]],
];

export function createProgram(runs: CommandRunners): Command {
  const program = new Command('parley')
    .description(
      'One agent, every chat: a messaging gateway that loses nothing, repeats nothing and keeps secrets.',
    )
    .option(
      '--data <folder>',
      'keep all data in this folder (default: PARLEY_HOME, else ~/.parley)',
    )
    .option(
      '--config <file>',
      'use this settings file (default: the running gateway’s file, else parley.yaml in the data folder)',
    )
    .version(formatVersion(), '--version', 'show the versions of Parley and Node')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', PROGRAM_HELP)
    .exitOverride();
  for (const [heading, commands] of GROUPS) {
    program.commandsGroup(heading);
    for (const describe of commands) describe(program, runs);
  }
  acceptFormerOptions(program);
  explainUsageErrors(program);
  return program;
}

const PROGRAM_HELP = `
Examples:
  parley start                          run, with everything in ~/.parley
  parley start --data ./work            run a second Parley, with everything in ./work
  parley chat --data ./work             talk to the second one
  echo "hello" | parley chat            ask once, print the answer
  parley logs -n 50 -f                  print the last log lines and new ones
  parley simulate telegram              simulate Telegram, without an account
  parley gateway, parley worker         run in several processes (docs/deploy.md)
  parley config --config my.yaml        check my.yaml

Exit codes:
  0    success
  1    failure, or a negative result: not found, not done, something needs attention
  2    incorrect usage
  3    the command needs a running gateway, but there is none on this data folder
  130  canceled with Ctrl-C at a question
  A command's help lists its exit codes if they differ.

Documentation (messages refer to these pages as docs/NAME.md):
  ${fileURLToPath(new URL('docs', INSTALLATION))}`;

function addCompletionCommand(program: Command, { bare }: CommandRunners): void {
  const work = createModuleRunner(bare, () => import('./commands/completion.ts'));
  const what = 'print a script for completing commands and options in a shell';
  const completion = addCommand(program, 'completion', what, (shell: ShellName) =>
    work((m, cli) => m.printCompletion(cli, program, shell)),
  ).addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']));
  addExamples(completion, [
    ['eval "$(parley completion bash)"', 'in ~/.bashrc'],
    ['source <(parley completion zsh)', 'in ~/.zshrc, after compinit'],
    ['parley completion fish | source', 'in ~/.config/fish/config.fish'],
  ]);
}

/**
 * Replaces Commander's help command, which does not report unknown words and ignores all words
 * after the first.
 */
function addHelpCommand(program: Command): void {
  const what = 'show the help of a command';
  const help = addCommand(program, 'help [command...]', what, async (words: readonly string[]) => {
    let command = program;
    for (const word of words) {
      const next = command.commands.find(
        (one) => one.name() === word || one.aliases().includes(word),
      );
      command = next ?? rejectUnknownWord(command, word);
    }
    command.outputHelp();
  });
  addExamples(help, [
    ['parley help logs', 'the same as "parley logs --help"'],
    ['parley help dead replay', 'a command in a group'],
  ]);
}
