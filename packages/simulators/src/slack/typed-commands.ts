import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { findEmojiName } from './emoji.ts';
import type { SlackDouble } from './slack-double.ts';
import type { VisibleMessage } from './visible.ts';

export const TYPED_HELP = `Write to talk to the bot in a direct chat. Commands:
  /NAME TEXT         run a slash command     !press LABEL     press this button on the newest message
  !channel TEXT      write in a channel      !edit TEXT       edit your last message
  !mention TEXT      the same, to the bot    !delete          delete it
  !thread TEXT       answer the bot's newest message in its thread
  !file PATH [WORDS] send a file             !react EMOJI     react to the bot's newest message
  !kick, !invite     remove the bot from the channel and add it again`;

/** The person at the terminal and the conversations available to the typed commands. */
export interface TypedCommandContext {
  readonly you: string;
  readonly direct: string;
  readonly channel: string;
}

type TypedCommand = (double: SlackDouble, places: TypedCommandContext, rest: string) => unknown;

const COMMANDS = new Map<string, TypedCommand>([
  ['channel', (double, { channel, you }, text) => double.say({ channel, from: you, text })],
  [
    'mention',
    (double, { channel, you }, text) =>
      double.say({ channel, from: you, text: `<@${double.me.id}> ${text}` }),
  ],
  ['thread', replyInThread],
  ['file', sendFile],
  ['press', pressNewestButton],
  [
    'edit',
    (double, places, text) =>
      double.reword(places.direct, findLatestPersonMessage(double, places).ts, text),
  ],
  [
    'delete',
    (double, places) => double.erase(places.direct, findLatestPersonMessage(double, places).ts),
  ],
  ['react', reactToNewestMessage],
  ['kick', (double, { channel }) => double.setBot(channel, false)],
  ['invite', (double, { channel }) => double.setBot(channel, true)],
]);

/** Executes a line typed at the prompt; throws an error with a readable reason. */
export function runTypedCommand(
  double: SlackDouble,
  places: TypedCommandContext,
  line: string,
): void {
  if (line.trim() === '') return;
  const [, sign, name = '', rest = ''] = /^([!/])(\w+)\s*(.*)$/su.exec(line) ?? [];
  const { direct, you } = places;
  if (sign === '/') double.slash({ channel: direct, command: `/${name}`, text: rest, from: you });
  else if (sign === undefined) double.say({ channel: direct, from: you, text: line });
  else {
    const command = COMMANDS.get(name);
    if (command === undefined) throw new Error(`Unknown command !${name}.\n${TYPED_HELP}`);
    command(double, places, rest);
  }
}

function replyInThread(
  double: SlackDouble,
  { you, ...places }: TypedCommandContext,
  text: string,
): void {
  const { channel, ts, threadTs } = findNewestBotMessage(double, places);
  double.say({ channel, from: you, text, threadTs: threadTs ?? ts });
}

function sendFile(double: SlackDouble, { direct, you }: TypedCommandContext, rest: string): void {
  const [, path = '', text = ''] = /^(\S+)\s*(.*)$/su.exec(rest) ?? [];
  const files = [{ name: basename(path), bytes: new Uint8Array(readFileSync(path)) }];
  double.say({ channel: direct, from: you, text, files });
}

function pressNewestButton(
  double: SlackDouble,
  { you, ...places }: TypedCommandContext,
  label: string,
): void {
  const { channel, ts } = findNewestBotMessage(double, places, ({ buttons }) =>
    buttons.includes(label),
  );
  double.press({ channel, ts, label, from: you });
}

function reactToNewestMessage(
  double: SlackDouble,
  { you, ...places }: TypedCommandContext,
  emoji: string,
): void {
  const { channel, ts } = findNewestBotMessage(double, places);
  const name = findEmojiName(emoji) ?? emoji.replaceAll(':', '');
  double.react({ channel, ts, name, from: you });
}

function findLatestPersonMessage(
  double: SlackDouble,
  { direct, you }: TypedCommandContext,
): VisibleMessage {
  const own = double.conversation(direct).findLast(({ from }) => from === you);
  if (own === undefined) throw new Error('You have not sent a message yet.');
  return own;
}

/** Finds the bot's newest message that satisfies `isWanted`. */
function findNewestBotMessage(
  double: SlackDouble,
  { direct, channel }: Omit<TypedCommandContext, 'you'>,
  isWanted: (message: VisibleMessage) => boolean = () => true,
): VisibleMessage {
  const found = [direct, channel]
    .flatMap((id) => double.conversation(id))
    .filter((message) => message.from === 'bot' && isWanted(message))
    .sort((a, b) => a.seq - b.seq)
    .at(-1);
  if (found === undefined) throw new Error('The bot has no matching message.');
  return found;
}
