import { type Command, Option } from 'commander';
import {
  addAgentOption,
  addCommand,
  addDefault,
  addExamples,
  addJsonOption,
  type CommandRunners,
  createModuleRunner,
  createNumberParser,
  parseIdNumber,
} from './cli.ts';
import type { EvalFlags } from './commands/eval/eval.ts';
import type { NewPluginFlags } from './commands/plugins/new-plugin.ts';
import type { PromptFlags } from './commands/prompt/prompt.ts';
import type { ReplayFlags } from './commands/replay/replay-choice.ts';

interface AgentsFlags {
  readonly person?: string;
  readonly account: string;
}

export function addAgentCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/agents.ts'));
  const what =
    'list the agents and the chats each of them answers, or show which agent answers in a chat and which rule decides this';
  const agents = addCommand(
    program,
    'agents [chat]',
    what,
    (chat: string | undefined, flags: AgentsFlags) =>
      work((m, cli) =>
        chat === undefined ? m.listAgents(cli) : m.showAnsweringAgent(cli, chat, flags),
      ),
  )
    .option('--person <id>', 'who writes there (default: a person without a rule of their own)')
    .option('--account <name>', 'the channel account', 'default');
  addExamples(addJsonOption(agents), [
    ['parley agents', 'list all agents and the chats each of them answers'],
    [
      'parley agents telegram:-1001234567890',
      'show which agent answers in this chat and which rule decides this',
    ],
    ['parley agents discord:42 --person 7 --account work', 'show the same for one person'],
  ]);
}

export function addPluginCommands(program: Command, { run }: CommandRunners): void {
  const plugins = addJsonOption(addCommand(program, 'plugins', 'list plugins, or write a new one'));
  const list = createModuleRunner(run, () => import('./commands/plugins/list-plugins.ts'));
  const each = 'show what each plugin adds, or why it does not work (exit 0 if all work)';
  addDefault(plugins, 'list', each).action(() => list((m, cli) => m.listPlugins(cli)));
  const create = createModuleRunner(run, () => import('./commands/plugins/new-plugin.ts'));
  const what = 'create a plugin with a tool, a test and a README';
  const made = addCommand(plugins, 'new <name>', what, (name: string, flags: NewPluginFlags) =>
    create((m, cli) => m.createPlugin(cli, name, flags)),
  )
    .option('--channel', 'create a plugin with a channel instead')
    .option('--in <folder>', 'create it in a new folder inside this folder', '.');
  addExamples(made, [
    ['parley plugins new dice', 'a tool, in the folder dice'],
    ['parley plugins new my-chat --channel', 'a channel, in the folder my-chat'],
    ['parley plugins new dice --in ~/.parley/plugins', 'beside the settings'],
  ]);
}

export function addSkillCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/skills.ts'));
  const each =
    'list each skill with its source, its state and the reason (exit 1 if any skill is refused)';
  const skills = addCommand(program, 'skills', each, () => work((m, cli) => m.listSkills(cli)));
  addJsonOption(addAgentOption(skills));
  const one = 'show one skill with its full text (exit 1 if it is not found)';
  addCommand(skills, 'show <name>', one, (name: string) =>
    work((m, cli) => m.showSkill(cli, name)),
  );
  addExamples(skills, [
    ['parley skills', 'all skills'],
    ['parley skills show diary', 'show the skill diary in full'],
  ]);
}

const PROMPT_EXAMPLES = [
  ['parley prompt --last', 'show the most recent prompt'],
  ['parley prompt --list --chat telegram:default:42', 'list the turns of one chat'],
  ['parley prompt --turn turn_x --full', 'show the full prompt of that turn'],
  ['parley prompt --diff', 'show what changed between the last two turns'],
  [
    'parley prompt --channel discord --chat group --person 123',
    'preview a prompt for that channel',
  ],
  [
    'parley prompt --channel web --layout zeus --mode minimal',
    'preview another layout for a sub-agent',
  ],
  ['parley prompt --channel web --agent support', 'preview a prompt for another agent'],
] as const;

/** Options that select past turns and exclude each other. */
const PAST = [
  ['--list', 'list the most recent turns; --limit sets how many'],
  ['--last', 'show the newest turn, or with --chat the newest turn in that chat'],
  ['--turn <id>', 'show a turn by its id'],
  ['--message <id>', 'show the turn that answered a message, by its id on the platform'],
  ['--diff [turns...]', 'compare two turns; without ids, the last two turns in a chat'],
] as const;

/** Options of a preview, which cannot be combined with the options for past turns. */
const PREVIEW = [
  [
    '--channel <name>',
    'preview the prompt for a message on this channel; the options below describe the message',
  ],
  ['--chat-id <id>', 'the platform’s id of the chat'],
  ['--title <text>', 'the group’s name'],
  ['--person <id>', 'the platform’s id of the sender; the settings determine who is an owner'],
  ['--name <text>', 'the sender’s name'],
  ['--text <text>', 'their message'],
  ['--account <name>', 'the channel account'],
  ['--layout <name>', 'use this layout instead of the configured one'],
  ['--mode <mode>', 'full, light, minimal (a sub-agent whose task is --text) or none'],
  ['--heartbeat', 'preview a heartbeat run'],
] as const;

export function addPromptCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/prompt/prompt.ts'));
  const what = 'show the exact prompt of a past turn, or preview one';
  const prompt = addCommand(program, 'prompt', what, (flags: PromptFlags) =>
    work((m, cli) => m.runPrompt(cli, flags)),
  );
  const past = PAST.map(([flags, text]) => new Option(flags, text));
  const preview = PREVIEW.map(([flags, text]) => new Option(flags, text));
  for (const option of past) {
    const others = [...past, ...preview].filter((other) => other !== option);
    prompt.addOption(option.conflicts(others.map((other) => other.attributeName())));
  }
  for (const option of preview) prompt.addOption(option);
  addAgentOption(prompt)
    .option('--chat <type>', 'direct, group, channel or thread; for past turns: the chat’s id')
    .option(
      '-n, --limit <number>',
      'with --list: the number of turns',
      createNumberParser(1, 1_000),
      20,
    )
    .option('--full', 'show the full text, not only the layers');
  addExamples(
    addJsonOption(prompt),
    PROMPT_EXAMPLES,
    'A preview shows the first turn of a new session. It does not write anything.',
  );
}

const REPLAY_EXAMPLES = [
  ['parley replay last 20 --dry-run', 'build the last requests again, without asking a model'],
  ['parley replay turn_x --model claude-sonnet-4-5', 'ask another model the same question'],
  ['parley replay telegram:default:42 --file SOUL.md=new.md', 'try another SOUL.md on a chat'],
  ['parley replay last 50 --profile companion', 'try another profile'],
  ['parley replay last 200 --release ./parley-next --dry-run', 'compare with another version'],
] as const;

const REPLAY_NOTES = `Tools are answered from the record. Nothing is sent, stored or written, except what the model's answers cost.
A replay of a private chat shows private text. docs/replay.md explains the outcomes.

Exit codes: 0 if nothing changed; 1 if a turn changed, diverged or failed, or none could be replayed.`;

/** Adds the command that runs recorded turns again. */
export function describeReplay(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/replay/replay.ts'));
  const what = 'run recorded turns again, with another model, file, profile or version';
  const replay = addCommand(
    program,
    'replay',
    what,
    (which: string, count: number | undefined, flags: ReplayFlags) =>
      work((m, cli) => m.runReplay(cli, which, count, flags)),
  )
    .argument(
      '<turn|chat|last>',
      'a turn, a chat (its newest turns), or the last turns of all chats',
    )
    .argument('[count]', 'with last: the number of turns', createNumberParser(1, 10_000))
    .option('--model <name>', 'ask this model; without it, the one that had answered')
    .option('--profile <name>', 'use this profile from the settings')
    .option('--file <name=path>', 'use another text of a workspace file; repeatable', collectValues)
    .option('--release <folder>', 'replay with the version of Parley in this folder')
    .option('--live-reads', 'let tools that only read answer calls that the record does not know')
    .option('--dry-run', 'build and compare the requests, and ask no model')
    .option(
      '-n, --limit <number>',
      'with a chat: the number of turns',
      createNumberParser(1, 10_000),
      20,
    )
    .option('--seconds <number>', 'time limit of each turn', createNumberParser(1, 3_600), 300);
  addExamples(addJsonOption(replay), REPLAY_EXAMPLES, REPLAY_NOTES);
}

const EVAL_EXAMPLES = [
  ['parley eval', 'run all cases with their recorded answers, without a model'],
  ['parley eval train --keep turn_x', 'keep a turn as the case evals/train.yaml'],
  ['parley eval --live --model claude-sonnet-4-5', 'let a model answer all cases'],
  ['parley eval train --accept', 'accept how the request of a case has changed'],
  ['parley eval --junit report.xml', 'write a report for a CI service'],
] as const;

const EVAL_NOTES = `Cases are files in the folder "evals" of the workspace. Nothing is sent; tools are answered from the case.
docs/evals.md shows how to write a case, and how to run cases in CI.

Exit codes: 0 if no case failed; 1 if one failed or cannot be read.`;

/** Adds the command that checks kept turns. */
export function describeEval(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/eval/eval.ts'));
  const what = 'check kept turns: the request, the answer and the calls';
  const evaluation = addCommand(
    program,
    'eval [names...]',
    what,
    (names: readonly string[], flags: EvalFlags) => work((m, cli) => m.runEval(cli, names, flags)),
  )
    .option('--live', 'ask the model instead of using the recorded answers')
    .option('--model <name>', 'with --live: ask this model')
    .option('--judge <name>', 'with --live: let this model judge')
    .option('--record', 'with --live: keep the answers in the cases')
    .option('--accept', 'write the requests of today into the cases')
    .option('--keep <turn>', 'keep this turn as a case')
    .option('--list', 'list the cases')
    .option('--junit <file>', 'write a JUnit report')
    .option('--seconds <number>', 'time limit of each case', createNumberParser(1, 3_600), 300);
  addExamples(addJsonOption(evaluation), EVAL_EXAMPLES, EVAL_NOTES);
}

function collectValues(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function addMemoryCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/memory.ts'));
  const memory = addJsonOption(
    addAgentOption(
      addCommand(
        program,
        'memory',
        'list or search memories, and compare or restore versions of MEMORY.md',
      ),
    ),
  );
  addDefault(memory, 'list', 'list all memories, as the owner sees them').action(() =>
    work((m, cli) => m.listMemories(cli)),
  );
  const search = 'search memories, notes and knowledge by words (exit 1 if nothing is found)';
  addCommand(memory, 'search <words...>', search, (words: readonly string[]) =>
    work((m, cli) => m.searchMemories(cli, words.join(' '))),
  );
  addCommand(memory, 'rebuild', 'rebuild the index from the files', () =>
    work((m, cli) => m.rebuildIndex(cli)),
  );
  addCommand(
    memory,
    'versions',
    'list earlier versions of MEMORY.md, newest first, and why each one was changed',
    () => work((m, cli) => m.listVersions(cli)),
  );
  const diff = 'show what changed in MEMORY.md since a version (default: the latest one)';
  addCommand(memory, 'diff [version]', diff, (version: string | undefined) =>
    work((m, cli) => m.diffVersion(cli, version)),
  );
  const restore = 'restore a version of MEMORY.md; the current text is saved as a version';
  addCommand(memory, 'restore <version>', restore, (version: string) =>
    work((m, cli) => m.restoreVersion(cli, version)),
  );
  addExamples(memory, [
    ['parley memory', 'all memories'],
    ['parley memory search green tea', 'find what is known about green tea'],
    [
      'parley memory diff 2026-11-20T080000Z-001',
      'show what changed in MEMORY.md since that version',
    ],
    ['parley memory restore 2026-11-20T080000Z-001', 'restore that version'],
  ]);
}

const NUMBERED = [
  ['show', 'show the whole text of a version'],
  ['diff', 'show what a version changes'],
  ['apply', 'use a proposal now if it has passed its checks'],
  ['veto', 'refuse a proposal'],
  ['rollback', 'return to an earlier version, which becomes a new version'],
] as const;

export function addSoulCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/soul.ts'));
  const what = 'list versions of SOUL.md, and propose new ones or decide on them';
  const soul = addJsonOption(addAgentOption(addCommand(program, 'soul', what)));
  const list = 'list all versions, newest first, with state, score, author and reason';
  addDefault(soul, 'list', list).action(() => work((m, cli) => m.listSouls(cli)));
  for (const [action, description] of NUMBERED) {
    addCommand(soul, action, description, (number: number) =>
      work((m, cli) =>
        action === 'show' || action === 'diff'
          ? m.showSoul(cli, number, action === 'show' ? 'text' : 'diff')
          : m.decideSoul(cli, number, action),
      ),
    ).argument('<number>', 'the version’s number in the list, such as 3 or v3', parseIdNumber);
  }
  const propose = 'propose the text of a file as the next version';
  addCommand(soul, 'propose <file>', propose, (file: string, { reason }: { reason: string }) =>
    work((m, cli) => m.proposeSoul(cli, file, reason)),
  ).option('--reason <words>', 'the reason for the proposal', 'proposed on the command line');
  addExamples(soul, [
    ['parley soul', 'all versions'],
    ['parley soul show 3', 'show the text of version 3'],
    ['parley soul diff 3', 'what it changes'],
    ['parley soul propose SOUL.new.md --reason "shorter"', 'propose your own text'],
    ['parley soul apply 4', 'use proposal 4 now'],
    ['parley soul veto 4', 'refuse it'],
    ['parley soul rollback 2', 'return to version 2'],
  ]);
}
