/** Longest command that Telegram and Discord both take. */
const LONGEST = 32;

/** What a skill is called as a command: `a`–`z`, `0`–`9`, `_`; null where nothing of that is in its name. */
export function commandNameOf(skill: string): string | null {
  const plain = skill
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_');
  const command = plain.slice(0, LONGEST).replace(/^_+|_+$/g, '');
  return command === '' ? null : command;
}

/** A message that may be the command of a skill. */
export interface TypedSkillCommand {
  readonly command: string;
  /** What stands behind it, without white space around it. */
  readonly argument: string;
}

/** Reads `/plan-trip Rome` and `/plan_trip Rome` alike; null where the text is no command at all. */
export function parseSkillCommand(text: string): TypedSkillCommand | null {
  const [, word, argument = ''] = /^\s*\/([a-z0-9_-]{1,64})(?:\s+(.*))?$/is.exec(text) ?? [];
  const command = word === undefined ? null : commandNameOf(word);
  return command === null ? null : { command, argument: argument.trim() };
}
