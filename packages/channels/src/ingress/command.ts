/** The commands that exist so far (F09); each is answered without the model. */
export const COMMANDS = [
  { name: 'help', summary: 'what I can do' },
  { name: 'new', summary: 'start afresh; I forget what was said in this chat' },
  { name: 'status', summary: 'which model answers and how I am doing' },
  { name: 'stop', summary: 'stop what I am doing and drop what waits' },
  { name: 'whoami', summary: 'how I know you' },
] as const;

/** The name of a command, without its slash. */
export type CommandName = (typeof COMMANDS)[number]['name'];

const ALIASES: ReadonlyMap<string, CommandName> = new Map([
  ...COMMANDS.map(({ name }) => [name, name] as const),
  // Telegram opens every chat with a bot by sending /start.
  ['start', 'help'],
]);

/**
 * The command a message is, or null when it is ordinary text. `/stop@my_bot` is ordinary text here:
 * an adapter that knows its own name takes it off. Unknown commands are ordinary text.
 */
export function parseCommand(text: string): CommandName | null {
  const word = /^\s*\/([a-z]+)(?:\s|$)/i.exec(text)?.[1];
  return word === undefined ? null : (ALIASES.get(word.toLowerCase()) ?? null);
}
