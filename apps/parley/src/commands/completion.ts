import type { Command } from 'commander';
import type { CliContext } from '../cli.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type ShellName = (typeof SHELLS)[number];

/** A possible next word, with its description. */
interface CompletionWord {
  readonly name: string;
  readonly about: string;
}

/**
 * The words that can follow a command path such as `cron add`. The path is empty for the first
 * word.
 */
interface CompletionContext {
  readonly path: string;
  readonly words: readonly CompletionWord[];
}

/** `parley completion SHELL`: prints a script that completes the commands and options of this version. */
export async function printCompletion(
  { print }: CliContext,
  program: Command,
  shell: ShellName,
): Promise<number> {
  print(SCRIPTS[shell](listCompletionContexts(program)));
  return 0;
}

function listCompletionContexts(command: Command, path = ''): readonly CompletionContext[] {
  const { commands } = command;
  const words = [
    ...commands.flatMap((one) =>
      listNames(one).map((name) => ({ name, about: one.description() })),
    ),
    ...listOptions(command),
  ];
  const below = commands.flatMap((one) =>
    listNames(one).flatMap((name) => listCompletionContexts(one, `${path} ${name}`.trim())),
  );
  return [{ path, words }, ...below];
}

/**
 * Lists the options of a command; for a command group, it includes the options of the default
 * command.
 */
function listOptions(command: Command): readonly CompletionWord[] {
  const own = command.options
    .filter(({ hidden }) => !hidden)
    .flatMap(({ long, description }) => (long == null ? [] : [{ name: long, about: description }]));
  // Commander stores the name of the default command but has no public accessor for it.
  const name: unknown = Reflect.get(command, '_defaultCommandName');
  const usual = command.commands.find((one) => one.name() === name);
  const more = usual === undefined ? [] : listOptions(usual);
  return [...own, ...more.filter((one) => !own.some((other) => other.name === one.name))];
}

function listNames(command: Command): readonly string[] {
  return [command.name(), ...command.aliases()];
}

const SCRIPTS: Readonly<Record<ShellName, (places: readonly CompletionContext[]) => string>> = {
  bash: createBashScript,
  zsh: createZshScript,
  fish: createFishScript,
};

function createBashScript(places: readonly CompletionContext[]): string {
  const cases = places.map(
    ({ path, words }) =>
      `    ${quoteForShell(path)}) echo ${quoteForShell(words.map(({ name }) => name).join(' '))} ;;`,
  );
  return `# Completes parley in bash, from version 3.2 on, which macOS has: eval "$(parley completion bash)"
_parley_words() {
  case "$1" in
${cases.join('\n')}
  esac
}
_parley() {
  local path='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " $(_parley_words "$path") " in
      *" $word "*) [[ $word == -* ]] || path="\${path:+$path }$word" ;;
    esac
  done
  COMPREPLY=($(compgen -W "$(_parley_words "$path")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _parley parley`;
}

function createZshScript(places: readonly CompletionContext[]): string {
  const cases = places.map(({ path, words }) => {
    const described = words.map(({ name, about }) =>
      quoteForShell(`${name}:${about.replaceAll(':', '\\:')}`),
    );
    return `    ${quoteForShell(path)}) found=(${described.join(' ')}) ;;`;
  });
  return `#compdef parley
# Completes parley in zsh: source <(parley completion zsh)
_parley_words() {
  case "$1" in
${cases.join('\n')}
    *) found=() ;;
  esac
}
_parley() {
  local at='' word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    _parley_words "$at"
    [[ $word != -* && -n \${found[(r)$word:*]} ]] && at="\${at:+$at }$word"
  done
  _parley_words "$at"
  _describe 'parley' found || _files
}
compdef _parley parley`;
}

function createFishScript(places: readonly CompletionContext[]): string {
  const lines = places.flatMap(({ path, words }) =>
    words.map(({ name, about }) => {
      const word = name.startsWith('--') ? `-l ${name.slice(2)}` : `-a ${name}`;
      return `complete -c parley -n ${quoteForShell(`__parley_at ${quoteForShell(path, '"')}`)} ${word} -d ${quoteForShell(about)}`;
    }),
  );
  const paths = places.map(({ path }) => quoteForShell(path)).join(' ');
  return `# Completes parley in fish: parley completion fish | source
function __parley_at
    set -l paths ${paths}
    set -l at ''
    for word in (commandline -opc)[2..]
        set -l next (string trim -- "$at $word")
        contains -- $next $paths; and set at $next
    end
    test "$at" = "$argv[1]"
end
${lines.join('\n')}`;
}

/** Quotes a word for a shell. The descriptions are trusted, but some contain apostrophes. */
function quoteForShell(text: string, by: "'" | '"' = "'"): string {
  return by === '"' ? `"${text}"` : `'${text.replaceAll("'", `'\\''`)}'`;
}
