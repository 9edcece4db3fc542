import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../apps/parley/src/program.ts';
import { listRepositoryFiles } from '../repository-files.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGES = listRepositoryFiles().filter((file) =>
  /^(README|CONTRIBUTING|ARCHITECTURE|AGENTS|SECURITY|docs\/[\w-]+|(apps|packages|examples)\/[\w-]+\/README)(\.md)?$/.test(
    file,
  ),
);
const run = async () => undefined;
const program = createProgram({ run, bare: run, starting: run });

type Command = typeof program;

/** The command lines of a page, in code spans and code blocks, without the word `parley`. */
function commandLines(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const code = [...text.matchAll(/^ *```\w*\n([\s\S]*?)^ *```|`([^`\n]+)`/gm)];
  return code.flatMap(([, block, span]) =>
    (block ?? span ?? '').split('\n').flatMap((line) => {
      const [, words] = /^\s*(?:[$\w/"]+ \| )?(?:npm run parley -- |parley )(.+)/.exec(line) ?? [];
      return words === undefined ? [] : [words.replace(/ {2,}.*| #.*/, '')];
    }),
  );
}

const childOf = (command: Command, word: string): Command | undefined =>
  command.commands.find((one) => one.name() === word || one.aliases().includes(word));

/** The reason why a command line is not valid in Parley; null if its command and options exist. */
function faultOf(words: string): string | null {
  const chain: Command[] = [program];
  const tokens = words.split(/\s+/);
  for (const token of tokens) {
    const child = childOf(chain.at(-1) ?? program, token);
    if (child === undefined) break;
    chain.push(child);
  }
  const [first = ''] = tokens;
  if (chain.length === 1 && /^[a-z]/.test(first) && first !== 'help') return `no command ${first}`;
  const last = chain.at(-1) ?? program;
  const next = tokens[chain.length - 1] ?? '';
  if (last !== program && last.commands.length > 0 && last.registeredArguments.length === 0) {
    if (/^[a-z][a-z-]+$/.test(next)) return `no command ${last.name()} ${next}`;
  }
  const known = new Set(
    [...chain, ...last.commands].flatMap(({ options }) =>
      options.flatMap(({ long, short }) => [long, short]),
    ),
  );
  const options = tokens.map((token) => /^-[-a-z]+/.exec(token)?.[0]).filter(Boolean);
  const unknown = options.filter((one) => !known.has(one) && !/^--?(help|h)$/.test(one ?? ''));
  return unknown.length === 0 ? null : `no option ${unknown.join(', ')}`;
}

describe('commands in the documentation', () => {
  it('[U02] exist with their options', () => {
    const lines = PAGES.flatMap((page) => commandLines(page).map((words) => ({ page, words })));
    const faults = lines.flatMap(({ page, words }) => {
      const fault = faultOf(words);
      return fault === null ? [] : [`${page}: parley ${words}: ${fault}`];
    });
    expect(faults).toEqual([]);
    expect(lines.length).toBeGreaterThan(200);
  });

  it.each([
    ['frobnicate', 'no command frobnicate'],
    ['cron frobnicate', 'no command cron frobnicate'],
    ['logs --frobnicate', 'no option --frobnicate'],
    ['logs -n 50 -f', null],
    ['cron --agent ada', null],
  ])('[U02] are recognized: parley %s', (words, fault) => {
    expect(faultOf(words)).toBe(fault);
  });
});
