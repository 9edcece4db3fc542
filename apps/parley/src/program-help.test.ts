import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from './main.ts';
import { createProgram } from './program.ts';
import { type CapturedOutput, captureOutput } from './testing/captured-output.ts';

let written: CapturedOutput;
beforeEach(() => {
  written = captureOutput();
});
afterEach(() => void vi.restoreAllMocks());

const nothing = async () => {};
const program = createProgram({ run: nothing, bare: nothing, starting: nothing });

/** Lists all subcommands with their full names, such as `dead replay`. */
function commandsOf(command: Command, above = ''): readonly (readonly [string, Command])[] {
  return command.commands.flatMap((one) => {
    const path = `${above} ${one.name()}`.trim();
    return [[path, one] as const, ...commandsOf(one, path)];
  });
}

const ALL = commandsOf(program);

/** The verbs with which a description may start. */
const VERBS = new Set([
  ...[
    'accept',
    'add',
    'allow',
    'back',
    'change',
    'check',
    'close',
    'connect',
    'create',
    'disconnect',
    'drop',
  ],
  ...[
    'explain',
    'give',
    'have',
    'import',
    'lead',
    'let',
    'list',
    'make',
    'pause',
    'print',
    'propose',
    'simulate',
  ],
  ...['archive', 'delete', 'mark', 'pin', 'rename'],
  ...['rebuild', 'refuse', 'remove', 'report', 'restore', 'resume', 'return', 'revoke'],
  ...[
    'rewrite',
    'run',
    'search',
    'send',
    'show',
    'sign',
    'start',
    'stop',
    'talk',
    'try',
    'use',
    'write',
  ],
]);

async function helpOf(path: string): Promise<string> {
  written.out = '';
  expect(await main([...path.split(' ').filter((word) => word !== ''), '--help'])).toBe(0);
  return written.out;
}

describe('every declared command', () => {
  it('[U02] appears under one of the headings in "parley --help"', async () => {
    expect(program.commands.filter((one) => !one.helpGroup()).map((one) => one.name())).toEqual([]);
    expect(await main(['--help'])).toBe(0);
    const help = written.out;
    const headings = new Set(program.commands.map((one) => one.helpGroup()));
    for (const heading of headings) expect(help).toContain(`\n${heading}\n`);
    expect(headings.size).toBeGreaterThan(5);
    expect(help).not.toContain('\nCommands:\n');
  });

  it.each(ALL)('[U02] has a description that starts with a verb: %s', (_path, command) => {
    const description = command.description();
    expect(VERBS).toContain(description.split(/[\s,]/)[0]);
    expect(description).not.toMatch(/\.$/);
  });

  it.each(ALL)('[U02] has a description for each of its options: %s', (_path, command) => {
    const options = command.options.filter(({ hidden }) => !hidden);
    expect(options.filter(({ description }) => description === '')).toEqual([]);
  });

  const WITH_ARGUMENTS = ALL.filter(
    ([, { registeredArguments }]) => registeredArguments.length > 0,
  );
  it.each(WITH_ARGUMENTS)('[U02] has an example if it takes arguments: %s', async (path) => {
    expect(await helpOf(path)).toMatch(new RegExp(`Examples:\\n[^]*parley ${path} [^\\s]`));
  });

  it('[U02] is covered by these tests', () => {
    expect(ALL.length).toBeGreaterThan(80);
    expect(WITH_ARGUMENTS.length).toBeGreaterThan(25);
  });
});

describe('docs/command-line.md', () => {
  it('[U02] lists all commands under the headings of "parley --help"', () => {
    const page = new URL('../../../docs/command-line.md', import.meta.url);
    const sections = readFileSync(page, 'utf8').split(/^## /m);
    for (const command of program.commands) {
      const title = `${command.helpGroup().replace(/:$/, '')}\n`;
      const section = sections.find((one) => one.startsWith(title)) ?? '';
      const cells = [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = '']) => cell);
      const names = cells.flatMap((cell) =>
        [...cell.matchAll(/`([^`]+)`/g)].map((found) => found[1]),
      );
      expect(names, title).toContain(command.name());
    }
  });
});

describe('the examples in the help', () => {
  it('[U02] are accepted as commands', async () => {
    const seen = new Set<string>();
    const odd: string[] = [];
    for (const path of ['', ...ALL.map(([path]) => path)]) {
      const [, examples = ''] = (await helpOf(path)).split('\nExamples:\n');
      for (const line of examples.split('\n\n')[0]?.split('\n') ?? []) {
        const [, words = ''] = /^ {2}(\S.*?)(?: {2,}.*)?$/.exec(line) ?? [];
        // Matches commands in pipes and substitutions, and several commands on one line.
        const lines = [...words.matchAll(/(?:^|[|(,] ?)parley ((?:"[^"]*"|[^|,)"])+)/g)];
        if (words !== '' && lines.length === 0) odd.push(words);
        for (const [, one = ''] of lines) seen.add(one.trim());
      }
    }
    expect(odd).toEqual([]);
    for (const words of seen) {
      const args = [...words.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, a, b]) => a ?? b ?? '');
      const again = createProgram({ run: nothing, bare: nothing, starting: nothing });
      const parsed = again.parseAsync(args, { from: 'user' });
      await expect(parsed, `${words}\n${written.err}`).resolves.toBeDefined();
    }
    expect(seen.size).toBeGreaterThan(60);
  });
});

/** Command groups with a default command, and some of the default command's options. */
const VERBLESS = [
  ['channels', 'channels list', []],
  ['config', 'config check', []],
  ['conversations', 'conversations list', ['-n', '5']],
  ['cron', 'cron list', []],
  ['dead', 'dead list', ['-n', '5', '--before', '7']],
  ['hooks', 'hooks list', ['--agent', 'ada']],
  ['jobs', 'cron list', []],
  ['memory', 'memory list', ['--agent', 'ada']],
  ['people', 'people list', []],
  ['plugins', 'plugins list', []],
  ['service', 'service status', []],
  ['sessions', 'sessions list', []],
  ['soul', 'soul list', ['--agent', 'ada']],
  ['token', 'token show', []],
] as const;

/**
 * Parses a command line and returns the command that runs, with its options and those of its parent
 * commands.
 */
async function parsed(words: readonly string[]): Promise<object> {
  let found = {};
  const again = createProgram({ run: nothing, bare: nothing, starting: nothing });
  again.hook('preAction', (_program, command) => {
    const path = `${command.parent?.name()} ${command.name()}`;
    found = { path, options: command.optsWithGlobals() };
  });
  await again.parseAsync([...words], { from: 'user' });
  return found;
}

describe('a command group with a default command', () => {
  it.each(VERBLESS)(
    '[U02] runs the default command when no subcommand is given: %s',
    async (group, full, options) => {
      for (const more of [options, [...options, '--json']]) {
        const expected = await parsed([...full.split(' '), ...more]);
        expect(expected).toMatchObject({ path: full });
        expect(await parsed([group, ...more])).toEqual(expected);
      }
    },
  );

  it('[U02] is listed in VERBLESS unless it has its own action or no default command', () => {
    const groups = program.commands.filter(
      (one) => one.commands.length > 0 && Reflect.get(one, '_actionHandler') === null,
    );
    const names = groups.map((one) => one.name()).filter((name) => name !== 'import');
    const listed = VERBLESS.map(([group]) => group).filter((group) => group !== 'jobs');
    expect(names.toSorted()).toEqual(listed);
  });
});

describe('parley help', () => {
  it.each(['logs', 'dead replay', 'jobs add'])(
    '[U02] shows the same text as --help: %s',
    async (path) => {
      const help = await helpOf(path);
      written.out = '';
      expect(await main(['help', ...path.split(' ')])).toBe(0);
      expect(written.out).toBe(help);
    },
  );
});

/**
 * Lists possible mistakes in the arguments of a command; for a command group, an unknown
 * subcommand.
 */
function mistakesIn(command: Command): readonly (readonly string[])[] {
  const { registeredArguments: taken, options, commands } = command;
  const needed = taken.filter(({ required }) => required);
  const filled = needed.map(({ argChoices }) => argChoices?.[0] ?? '1');
  const mandatory = options.filter((one) => one.mandatory).flatMap(filledOption);
  const shown = options.filter(({ hidden }) => !hidden);
  const isOpen = taken.some(({ variadic }) => variadic);
  return [
    ...(commands.length > 0 && taken.length === 0 ? [['no-such-command']] : []),
    ...(commands.length > 0 || isOpen
      ? []
      : [[...mandatory, ...taken.map(() => filled[0] ?? '1'), 'more']]),
    ...(needed.length > 0 ? [[...mandatory, ...filled.slice(1)]] : []),
    ...shown.filter(({ required }) => required).map(({ long }) => [...filled, long ?? '']),
    ...shown.filter(({ argChoices }) => argChoices).map(({ long }) => [...filled, long ?? '', '?']),
  ];
}

const filledOption = ({ long, argChoices }: Option): readonly string[] => [
  long ?? '',
  argChoices?.[0] ?? '1',
];

describe('a usage error', () => {
  it.each(ALL)("[U02] ends with a reference to the command's help: %s", async (path, command) => {
    written.err = '';
    expect(await main([...path.split(' '), '--nonsense'])).toBe(2);
    const missing = command.options.find(({ mandatory }) => mandatory)?.flags;
    const mistake = missing ? `required option '${missing}'` : "unknown option '--nonsense'";
    expect(written.err).toContain(`error: ${mistake}`);
    const group = command.commands.length > 0 ? '(?: \\w+)?' : '';
    expect(written.err).toMatch(new RegExp(`\\nSee "parley ${path}${group} --help"\\.\\n$`));
  });

  it.each(ALL)('[U02] is reported for every kind of mistake: %s', async (path, command) => {
    for (const words of mistakesIn(command)) {
      written.err = '';
      const line = `parley ${path} ${words.join(' ')}`;
      expect(await main([...path.split(' '), ...words]), `${line}\n${written.err}`).toBe(2);
      expect(written.err, line).toMatch(new RegExp(`\\nSee "parley ${path} --help"\\.\\n$`));
    }
  });

  it('[U02] is also reported when a command or an operation detects it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-usage-'));
    const wrong: readonly (readonly [words: string, said: string, path: string])[] = [
      ['prompt', 'Select a turn', 'prompt'],
      ['prompt --channel web --layout none', '--layout must be one of ', 'prompt'],
      ['prompt --channel web --mode none-at-all', '--mode must be one of ', 'prompt'],
      ['prompt --channel web --chat nowhere', '--chat must be ', 'prompt'],
      ['prompt --channel nowhere', 'There is no channel "nowhere".', 'prompt'],
      ['prompt --diff one', '--diff takes the ids of two turns', 'prompt'],
      ['agents telegram', 'A chat is channel:chatId', 'agents'],
      [`conversation reply ${'x'.repeat(800)} hello`, 'conversationId', 'conversations reply'],
      [`conversations take-over ${'x'.repeat(800)}`, 'conversationId', 'conversations take-over'],
    ];
    try {
      for (const [words, said, path] of wrong) {
        written.err = '';
        expect(await main(['--data', folder, ...words.split(' ')]), words).toBe(2);
        expect(written.err).toContain(`error: `);
        expect(written.err).toContain(said);
        expect(written.err).toMatch(new RegExp(`\\nSee "parley ${path} --help"\\.\\n$`));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([
    [['lgos'], 'Did you mean logs?', 'parley'],
    [['jbos'], 'Did you mean jobs?', 'parley'],
    [['help', 'lgos'], 'Did you mean logs?', 'parley'],
    [['help', 'dead', 'shwo'], 'Did you mean dead show?', 'parley dead'],
    [['audit', 'acept', 'github'], 'Did you mean audit accept?', 'parley audit'],
    [['skills', 'xyzzy'], 'Available commands: show.', 'parley skills'],
    [['dead', '17'], 'Did you mean dead show 17?', 'parley dead'],
    [['cron', 'delete', '7Q2M'], 'Did you mean cron remove?', 'parley cron'],
    [['config', 'validate'], 'Did you mean config check?', 'parley config'],
    [['logs', '--folow'], 'Did you mean --follow?', 'parley logs'],
    [['dead', '--limt', '5'], 'Did you mean --limit?', 'parley dead list'],
    [['dead', 'shwo', '5'], 'Did you mean dead show?', 'parley dead'],
    [
      ['dead', 'show', 'xx'],
      "'xx' is not valid as <number>. Use a number such as 17.",
      'parley dead show',
    ],
    [['logs', '-n', 'many'], "argument 'many' is invalid. It must be", 'parley logs'],
    [['logs', '-n'], 'argument missing', 'parley logs'],
    [['why'], "missing required argument 'message'", 'parley why'],
    [['people', 'add', 'ann'], "required option '--role <role>'", 'parley people add'],
    [['completion', 'bsh'], 'Allowed choices are bash, zsh, fish.', 'parley completion'],
    [['simulate', 'telegarm'], 'Did you mean telegram?', 'parley simulate'],
    [['simulate', 'signal'], 'Platforms are telegram, discord, slack, whatsapp', 'parley simulate'],
    [['simulate', 'a.jsonl', 'b.jsonl'], 'one platform and one scene', 'parley simulate'],
    [
      ['simulate', 'a.jsonl', '--record', 'b.jsonl'],
      'cannot be used with a scene',
      'parley simulate',
    ],
    [['sessions', 'end'], 'or use --all', 'parley sessions end'],
  ])('[U02] describes the mistake and refers to the help: %j', async (args, said, path) => {
    expect(await main(args)).toBe(2);
    expect(written.err).toContain(said);
    expect(written.err).toMatch(new RegExp(`\\nSee "${path} --help"\\.\\n$`));
  });
});
