import { setTimeout as sleep } from 'node:timers/promises';
import { type ParleyProcess, runParley } from '../e2e/parley-process.ts';
import type { FixtureWorld } from './world.ts';

/** In ms, and generous because a busy machine is slow. */
const WAIT_MS = 30_000;

/** A running Parley that is given work. */
export interface BusyParley {
  readonly world: FixtureWorld;
  readonly parley: ParleyProcess;
  readonly data: string;
  /** The first row of a query that both databases support. */
  row(sql: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Changes the settings file, like a person editing it. */
  edit(change: (settings: string) => string): void;
}

/** Waits for the first result of `look` that is neither undefined nor false. */
export async function waitForResult<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
): Promise<T> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`This did not happen: ${what}`);
    await sleep(30);
  }
}

/** Waits for a row. */
export function waitForRow(asked: BusyParley, sql: string) {
  return waitForResult(sql, () => asked.row(sql));
}

/** Runs a command against its data folder; returns the output. */
export async function runParleyCommand(asked: BusyParley, ...args: string[]): Promise<string> {
  const ended = await runParley(['--data', asked.data, ...args]);
  if (ended.code !== 0) throw new Error(`${args.join(' ')}: ${ended.out}${ended.err}`);
  return ended.out;
}

/** The bot's messages in a Telegram chat. */
export function listAnswers({ world }: BusyParley, chat: number): readonly string[] {
  const all = world.telegram.conversation(chat);
  return all.filter(({ from }) => from === 'bot').map(({ text }) => text);
}

/** Writes in Telegram and waits until an answer contains this text; returns the message's id. */
export async function sendAndWait(
  asked: BusyParley,
  chat: number,
  text: string,
  words: string,
): Promise<string> {
  const before = listAnswers(asked, chat).length;
  const { message_id } = asked.world.telegram.say({ chat, text });
  await waitForResult(`"${words}" in ${chat}`, async () =>
    listAnswers(asked, chat)
      .slice(before)
      .some((answer) => answer.includes(words)),
  );
  return String(message_id);
}

/** A code shown in a chat after the name of a command. */
export function waitForCode(asked: BusyParley, chat: number, name: string): Promise<string> {
  const pattern = new RegExp(`/${name} ([A-Z2-9]{6,8})`);
  const look = async () => pattern.exec(listAnswers(asked, chat).join('\n'))?.[1];
  return waitForResult(`a code for /${name} in ${chat}`, look);
}

/** A message that makes the model call a tool. */
export function formatToolRequest(name: string, input: object): string {
  return `tool ${name} ${JSON.stringify(input)}`;
}
