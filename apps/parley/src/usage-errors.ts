import { findNearestWord } from '@parley/settings';
import type { Command } from 'commander';

/**
 * Makes every usage error refer to the command's help, and makes every command group reject unknown
 * commands. Commander's own suggestions are disabled, because they are not similar enough to what
 * the user typed.
 */
export function explainUsageErrors(command: Command, path = command.name()): void {
  command.showHelpAfterError(`See "${path} --help".`);
  command.configureOutput({ outputError: (text, write) => write(rewriteUsageError(text)) });
  if (command.commands.length === 0) return;
  command.on('command:*', ([word = '']: readonly string[]) => rejectUnknownWord(command, word));
  if (command.parent !== null && command.registeredArguments.length === 0)
    refuseUnknownWords(command);
  for (const one of command.commands) explainUsageErrors(one, `${path} ${one.name()}`);
}

/** Makes a command group that has its own action treat any other word as an unknown command. */
function refuseUnknownWords(group: Command): void {
  group.allowExcessArguments().hook('preAction', (_group, running) => {
    const [word] = group.args;
    if (running === group && word !== undefined) rejectUnknownWord(group, word);
  });
}

/** Names that other programs use for some of Parley's commands. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  delete: 'remove',
  edit: 'change',
  ls: 'list',
  retry: 'replay',
  rm: 'remove',
  validate: 'check',
};

/**
 * Rejects a word that is not a command in this group. Suggests the command that the word names in
 * another program, or a command with a similar spelling.
 */
export function rejectUnknownWord(parent: Command, word: string): never {
  const path = parent.parent === null ? '' : `${parent.name()} `;
  const names = parent.commands.map((known) => known.name());
  const others = parent.commands.flatMap((known) => known.aliases());
  const meant = suggestCommand(word, names) ?? findNearestWord(word, [...names, ...others, 'help']);
  const all = path === '' ? '' : `\n(Available commands: ${names.join(', ')}.)`;
  const hint = meant === undefined ? all : `\n(Did you mean ${path}${meant}?)`;
  return parent.error(`error: unknown command '${path}${word}'${hint}`);
}

/**
 * Returns the command that the word names in another program, or `show` with the word if it is an
 * id or number.
 */
function suggestCommand(word: string, names: readonly string[]): string | undefined {
  const other = OTHER_WORDS[word];
  if (other !== undefined && names.includes(other)) return other;
  return /\d/.test(word) && names.includes('show') ? `show ${word}` : undefined;
}

/** Rewrites Commander's error for an invalid argument, using the terms of the usage line. */
function rewriteUsageError(text: string): string {
  return text.replace(
    /^error: command-argument value '(.*)' is invalid for argument '(.*?)'\. /s,
    "error: '$1' is not valid as <$2>. ",
  );
}
