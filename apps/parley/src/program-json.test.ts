import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from './main.ts';
import { createProgram } from './program.ts';
import { type CapturedOutput, captureOutput } from './testing/captured-output.ts';

const ASKS = 'asks questions in a terminal';
const RUNS = 'runs until it is stopped';
const FILES = 'writes files and lists them as it goes';

/** Commands that reject `--json`, each with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  'audit accept <server>': 'accepts what a person has read',
  'backup <file>': FILES,
  chat: ASKS,
  'completion <shell>': 'prints a script',
  gateway: RUNS,
  'heartbeat convert': ASKS,
  'help [command...]': 'prints help',
  'import neomagi <folder>': FILES,
  'import openclaw <folder>': FILES,
  report: FILES,
  'restore <file>': `${ASKS}, and ends the gateway`,
  'service install': 'starts a process, and prints a unit',
  'service uninstall': 'ends a process',
  setup: ASKS,
  'simulate [platform] [scene]': RUNS,
  start: RUNS,
  'upgrade [release]': 'replaces the running release, and reports as it goes',
  worker: RUNS,
};

const nothing = async () => {};
const program = createProgram({ run: nothing, bare: nothing, starting: nothing });

/** Lists every command that has an action, each preceded by its parent commands. */
function commandsOf(command: Command, above: readonly Command[] = []): readonly Command[][] {
  const path = [...above, command];
  const own = Reflect.get(command, '_actionHandler') === null ? [] : [path];
  return [...own, ...command.commands.flatMap((one) => commandsOf(one, path))];
}

/** Formats the usage of a command with its required arguments, such as `dead show <number>`. */
function usageOf(path: readonly Command[]): string {
  const words = path.slice(1).map((one) => one.name());
  const { registeredArguments } = path.at(-1) ?? program;
  const given = registeredArguments.map((one) =>
    one.required ? `<${one.name()}>` : `[${one.name()}${one.variadic ? '...' : ''}]`,
  );
  return [...words, ...given].join(' ');
}

const COMMANDS = commandsOf(program);

let folder: string;
let written: CapturedOutput;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-json-'));
  written = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

describe('every declared command', () => {
  it('[U03] supports --json or gives a reason for not supporting it', () => {
    const refused = new Set(Object.keys(WITHOUT));
    const missing = COMMANDS.filter(
      (path) =>
        !refused.has(usageOf(path)) &&
        !path.some(({ options }) => options.some(({ long }) => long === '--json')),
    );
    expect(missing.map(usageOf)).toEqual([]);
    const known = new Set(COMMANDS.map(usageOf));
    expect([...refused].filter((usage) => !known.has(usage))).toEqual([]);
    expect(COMMANDS.length).toBeGreaterThan(60);
  });

  it.each(Object.entries(WITHOUT))('[U03] rejects --json: %s, which %s', async (usage) => {
    const words = usage
      .replaceAll('<shell>', 'bash')
      .replaceAll(/ \[\w+\]/g, '')
      .split(' ');
    expect([await main(['--data', folder, ...words, '--json']), written.err]).toEqual([
      ...[2, expect.stringContaining("unknown option '--json'")],
    ]);
  });
});

describe('a command without a running gateway', () => {
  it.each([
    ...[
      'agents',
      'approvals',
      'channels',
      'conversations',
      'cron',
      'dead',
      'heartbeat',
      'hooks',
      'people',
    ],
    ...['sessions', 'soul', 'usage', 'cron list', 'why last', 'dead list', 'sessions list'],
    ...[
      'plugins',
      'skills',
      'skills show diary',
      'storage',
      'config',
      'config check',
      'config upgrade',
    ],
    ...[
      'memory',
      'memory list',
      'memory search tea',
      'memory rebuild',
      'memory versions',
      'memory diff',
    ],
    ...['prompt --channel web', 'dead show 1', 'agents web:main', 'doctor'],
  ])('[U03] prints only JSON with --json: %s', async (command) => {
    await main(['--data', folder, ...command.split(' '), '--json']);
    expect([command, written.err]).toEqual([command, '']);
    expect(Object.keys(JSON.parse(written.out)).length).toBeGreaterThan(0);
  });
});
