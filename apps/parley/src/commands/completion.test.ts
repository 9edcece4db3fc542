import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { printCompletion, type ShellName } from './completion.ts';

const bash = inject('bashPath');

function program(): Command {
  const parley = new Command('parley').option('--data <folder>', 'where everything is kept');
  const cron = parley
    .command('cron')
    .alias('jobs')
    .description('jobs: "it\'s" all there')
    .option('--json', 'for programs');
  cron.command('add <when>').description('add one').option('--title <text>', 'its title');
  cron.command('list').description('list them').addOption(new Option('--secret').hideHelp());
  parley.command('status').description('how it is');
  const dead = parley.command('dead').description('letters').option('--json', 'for programs');
  dead
    .command('list', { isDefault: true })
    .description('list them')
    .option('--limit <n>', 'this many')
    .option('--json', 'for programs');
  dead.command('drop').description('drop one').option('--all', 'all of them');
  return parley;
}

async function scriptFor(shell: ShellName): Promise<string> {
  let script = '';
  const print = (text: string): void => {
    script += text;
  };
  const folder = { path: '' } as Parameters<typeof printCompletion>[0]['folder'];
  expect(await printCompletion({ folder, env: {}, print }, program(), shell)).toBe(0);
  return script;
}

describe.runIf(bash)('command completion in bash', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-completion-'));
    writeFileSync(join(folder, 'parley.bash'), await scriptFor('bash'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Returns the completions that bash offers for the last word of a line. */
  function offered(...line: string[]): string[] {
    // The script is loaded as documented, because bash 3.2 on macOS reads nothing from `source
    // <(…)`.
    const load = `parley() { cat ${join(folder, 'parley.bash')}; }; eval "$(parley completion bash)"`;
    const ask = `${load}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const out = execFileSync(bash ?? '', ['-c', ask, '-', ...line], { encoding: 'utf8' });
    return out
      .trim()
      .split('\n')
      .filter((word) => word !== '');
  }

  it.each<[string, string[], string[]]>([
    [
      'commands and options for the first word',
      ['parley', ''],
      ['cron', 'jobs', 'status', 'dead', '--data'],
    ],
    ["options of a group's default command", ['parley', 'dead', '--'], ['--json', '--limit']],
    ['commands by their first letters', ['parley', 'st'], ['status']],
    ['the commands of a group', ['parley', 'cron', ''], ['add', 'list', '--json']],
    ['options of a command inside a group', ['parley', 'cron', 'add', '--'], ['--title']],
    [
      'the same options after an option and its value',
      ['parley', '--data', 'x', 'cron', 'l'],
      ['list'],
    ],
    ['the commands of a group that is called by its alias', ['parley', 'jobs', 'l'], ['list']],
    ['no option that is hidden from the help', ['parley', 'cron', 'list', ''], []],
    ['no command after an argument', ['parley', 'cron', 'add', 'list', ''], ['--title']],
  ])('[U02] offers %s', (_what, line, words) => {
    expect(offered(...line)).toEqual(words);
  });
});

/** Bash 4 constructs that bash 3.2 on macOS lacks. */
const BASH_4: readonly (readonly [string, RegExp])[] = [
  ['mapfile and readarray', /\b(?:mapfile|readarray)\b/],
  ['associative arrays and name references', /\b(?:declare|local|typeset)\s+-\w*[Angu]/],
  ['case conversion and quoting of a variable', /\$\{\w+(?:\[[^\]]*\])?(?:,|\^|@[A-Za-z]\})/],
  ['negative offsets', /\$\{\w+\[-|\$\{\w+(?:\[@\])?:[^}]*:\s*-/],
  ['process substitution', /[<>]\(/],
  ['redirections of both streams', /&>>|\|&/],
  ['coprocesses', /\bcoproc\b/],
  ['case branches that fall through', /;;?&/],
  ['tests for set variables', /\[\[?\s+-[vR]\s/],
  ['globstar', /\bglobstar\b|\bcompopt\b/],
];

describe('command completion on macOS', () => {
  it.each(BASH_4)('[U02] avoids the bash 4 construct %s', async (_what, pattern) => {
    expect(await scriptFor('bash')).not.toMatch(pattern);
  });

  it('[U02] is documented with a command that bash 3.2 can run', () => {
    const page = readFileSync(new URL('../../../../docs/upgrade.md', import.meta.url), 'utf8');
    for (const text of [page, readFileSync(new URL('../program.ts', import.meta.url), 'utf8')]) {
      expect(text).toContain('eval "$(parley completion bash)"');
      expect(text).not.toContain('<(parley completion bash)');
    }
  });
});

describe('command completion in other shells', () => {
  it.each<[ShellName, string[]]>([
    ['zsh', ["'cron add') found=('--title:its title') ;;", `'cron:jobs\\: "it'\\''s" all there'`]],
    [
      'fish',
      [`-n '__parley_at "cron"' -a add -d 'add one'`, `-n '__parley_at "cron add"' -l title`],
    ],
  ])('[U02] lists each command with its description: %s', async (shell, parts) => {
    const script = await scriptFor(shell);
    for (const part of parts) expect(script).toContain(part);
    expect(script).not.toContain('--secret');
  });
});
