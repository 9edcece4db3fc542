import { nearestWord } from '@parley/settings';
import type { Command } from 'commander';

/**
 * Has every command end a usage error with where its help is, and every group of commands refuse an unknown one:
 * Commander's own guesses are too far off.
 */
export function explainUsageErrors(command: Command, path = command.name()): void {
  command.showHelpAfterError(`See "${path} --help".`);
  command.configureOutput({ outputError: (text, write) => write(plainUsageError(text)) });
  if (command.commands.length === 0) return;
  command.on('command:*', ([word = '']: readonly string[]) => refuseWord(command, word));
  for (const one of command.commands) explainUsageErrors(one, `${path} ${one.name()}`);
}

/** Refuses a word that is no command of this group. Suggests one only if it is spelled much like that word. */
export function refuseWord(parent: Command, word: string): never {
  const path = parent.parent === null ? '' : `${parent.name()} `;
  const names = parent.commands.map((known) => known.name());
  const others = parent.commands.flatMap((known) => known.aliases());
  const meant = nearestWord(word, [...names, ...others, 'help']);
  const all = path === '' ? '' : `\n(It is one of ${names.join(', ')}.)`;
  const hint = meant === undefined ? all : `\n(Did you mean ${path}${meant}?)`;
  return parent.error(`error: unknown command '${path}${word}'${hint}`);
}

/** Commander's error of an invalid argument, in the words of the usage line. */
function plainUsageError(text: string): string {
  return text.replace(
    /^error: command-argument value '(.*)' is invalid for argument '(.*?)'\. /s,
    "error: '$1' is not valid as <$2>. ",
  );
}
