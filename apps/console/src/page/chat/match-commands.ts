import type { CommandHint } from './wire.ts';

/** The commands a half-written line may become; none once a space or a second line follows. */
export function matchCommands(
  draft: string,
  commands: readonly CommandHint[],
): readonly CommandHint[] {
  const typed = /^\/([a-z0-9_]*)$/i.exec(draft)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  return commands.filter(({ name }) => name.startsWith(typed));
}

/** The command a whole message is, or null; one with more words after it is shown as written. */
export function commandIn(text: string, commands: readonly CommandHint[]): string | null {
  const word = /^\s*\/([a-z0-9_]+)\s*$/i.exec(text)?.[1]?.toLowerCase();
  return commands.find(({ name }) => name === word)?.name ?? null;
}
