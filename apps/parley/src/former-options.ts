import { type Command, Option } from 'commander';

/**
 * Renamed options, keyed by command. The former name keeps working for one release, with a notice
 * on stderr.
 */
const FORMER: Readonly<Record<string, { readonly former: string; readonly now: string }>> = {
  logs: { former: '--last', now: '--limit' },
  approvals: { former: '--last', now: '--limit' },
  'dead list': { former: '--last', now: '--limit' },
  'dead replay': { former: '--even-twice', now: '--allow-duplicates' },
  restore: { former: '--go-on', now: '--continue' },
  prompt: { former: '--user', now: '--person' },
};

/** Makes the commands of a program accept the former names of renamed options. */
export function acceptFormerOptions(program: Command, all: typeof FORMER = FORMER): void {
  for (const [path, { former, now }] of Object.entries(all)) {
    const command = path.split(' ').reduce(findSubcommand, program);
    const option = command.options.find(({ long }) => long === now);
    if (option === undefined) throw new Error(`parley ${path} does not have the option ${now}.`);
    const old = new FormerOption(former, option);
    command.addOption(old);
    printFormerOptionNotice(command, old, `is called ${now}`);
  }
}

/** Prints a notice when a former option is used. */
export function printFormerOptionNotice(command: Command, option: Option, become: string): void {
  const former = option.long ?? option.flags;
  const notice = `Note: ${former} ${become} now. The next release will not accept ${former}.\n`;
  command.on(`option:${option.name()}`, () => {
    command.configureOutput().writeErr?.(notice);
  });
}

function findSubcommand(parent: Command, name: string): Command {
  const found = parent.commands.find((command) => command.name() === name);
  if (found === undefined) throw new Error(`There is no command ${parent.name()} ${name}.`);
  return found;
}

/**
 * The former name of an option, which sets the same value but is hidden from help and completion.
 */
class FormerOption extends Option {
  readonly #option: Option;

  constructor(name: string, option: Option) {
    // The short flag is kept only on the current name.
    super(option.flags.replace(/^-\w, /, '').replace(option.long ?? '', name));
    this.#option = option;
    this.hideHelp();
    if (option.parseArg !== undefined) this.argParser(option.parseArg);
  }

  override attributeName(): string {
    return this.#option.attributeName();
  }
}
