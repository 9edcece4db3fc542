import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import type { FileKind } from './files.ts';
import type { TelegramDouble } from './telegram-double.ts';

const KINDS: Readonly<Record<string, { readonly kind: FileKind; readonly type: string }>> = {
  '.jpg': { kind: 'photo', type: 'image/jpeg' },
  '.jpeg': { kind: 'photo', type: 'image/jpeg' },
  '.png': { kind: 'photo', type: 'image/png' },
  '.ogg': { kind: 'voice', type: 'audio/ogg' },
  '.mp3': { kind: 'audio', type: 'audio/mpeg' },
  '.mp4': { kind: 'video', type: 'video/mp4' },
  '.pdf': { kind: 'document', type: 'application/pdf' },
};

/** What can be typed besides words. */
export const TYPED_HELP = `Write to talk to the bot. Besides words:
  !group TEXT        in a group              !press LABEL     the button of the newest message that has it
  !file PATH [WORDS] a file of your disk     !edit TEXT       change what you wrote last
  !post TEXT         in a channel            !block, !unblock
  !react EMOJI       to the bot's newest message to you; without EMOJI that is taken back`;

/** Places to type in. */
export const PLACES = { person: 1001, group: -5, channel: -1_000_000_000_009 };

const { person, group, channel } = PLACES;

const ACTIONS = new Map<string, (double: TelegramDouble, rest: string) => unknown>([
  ['group', (double, text) => double.say({ chat: group, from: person, text })],
  ['post', (double, text) => double.say({ chat: { id: channel, type: 'channel' }, text })],
  ['file', sayFile],
  ['press', pressNewest],
  ['edit', editLast],
  ['react', reactToNewest],
  ['block', (double) => double.setAccess(person, 'blocked')],
  ['unblock', (double) => double.setAccess(person, 'open')],
]);

/** Does what a line typed at the prompt says; throws with a reason for people. */
export function runLine(double: TelegramDouble, line: string): void {
  if (line.trim() === '') return;
  const [, name, rest = ''] = /^!(\w+)\s*(.*)$/su.exec(line) ?? [];
  if (name === undefined) {
    double.say({ chat: person, text: line });
    return;
  }
  const action = ACTIONS.get(name);
  if (action === undefined) throw new Error(`There is no !${name}.\n${TYPED_HELP}`);
  action(double, rest);
}

function sayFile(double: TelegramDouble, rest: string): void {
  const [, path = '', words] = /^(\S+)\s*(.+)?$/su.exec(rest) ?? [];
  const { kind, type } = KINDS[extname(path).toLowerCase()] ?? {
    kind: 'document',
    type: 'application/octet-stream',
  };
  const bytes = new Uint8Array(readFileSync(path));
  const file = { kind, type, bytes, name: basename(path) };
  double.say({ chat: PLACES.person, file, ...(words && { text: words }) });
}

function pressNewest(double: TelegramDouble, label: string): void {
  const found = double.transcript.messages().findLast(({ buttons }) => buttons?.includes(label));
  if (found === undefined) throw new Error(`No message has a button "${label}".`);
  double.press({ chat: found.chatId, message: found.messageId, label, from: PLACES.person });
}

function editLast(double: TelegramDouble, text: string): void {
  const own = double.conversation(PLACES.person).findLast(({ from }) => from === PLACES.person);
  if (own === undefined) throw new Error('You have written nothing yet.');
  double.reword(PLACES.person, own.messageId, text);
}

function reactToNewest(double: TelegramDouble, emoji: string): void {
  const newest = double.conversation(PLACES.person).findLast(({ from }) => from === 'bot');
  if (newest === undefined) throw new Error('The bot has written nothing yet.');
  const emojis = emoji === '' ? [] : [emoji];
  double.react({ chat: PLACES.person, message: newest.messageId, emojis });
}
