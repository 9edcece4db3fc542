import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { z } from 'zod';
import { createControlHandler, waitForNewest } from '../answer-control.ts';
import { Fault } from './faults.ts';
import type { FileKind } from './files.ts';
import type { TelegramDouble } from './telegram-double.ts';
import type { VisibleMessage } from './transcript.ts';

const Known = z.object({ id: z.number() }).catchall(z.unknown());
const Format = z.looseObject({ type: z.string(), offset: z.number(), length: z.number() });
const SayingBody = z.strictObject({
  chat: z.union([z.number(), Known]),
  from: z.union([z.number(), Known]).optional(),
  text: z.string().optional(),
  entities: z.array(Format).optional(),
  thread: z.number().optional(),
  replyTo: z.number().optional(),
  subscriber: z.number().optional(),
  business: z.string().optional(),
  guest: z.string().optional(),
  ephemeral: z.boolean().optional(),
  extra: z.record(z.string(), z.unknown()).optional(),
  album: z.string().optional(),
  as: Known.optional(),
  file: z
    .strictObject({
      kind: z.enum([
        'photo',
        'document',
        'voice',
        'audio',
        'video',
        'video_note',
        'animation',
        'sticker',
      ]),
      /** Base64. */
      bytes: z.base64().transform((text) => new Uint8Array(Buffer.from(text, 'base64'))),
      name: z.string().optional(),
      type: z.string().optional(),
      claimedSize: z.number().optional(),
    })
    .optional(),
});
const PressBody = z.strictObject({
  chat: z.number(),
  message: z.number(),
  ephemeral: z.number().optional(),
  label: z.string(),
  from: z.union([z.number(), Known]).optional(),
});
const ReactionBody = z.strictObject({
  chat: z.number(),
  message: z.number(),
  emojis: z.array(z.union([z.string(), z.strictObject({ custom: z.string(), like: z.string() })])),
  from: z.union([z.number(), Known]).optional(),
  as: Known.optional(),
});
const RewordBody = z.strictObject({ chat: z.number(), message: z.number(), text: z.string() });

const ConnectBody = z.strictObject({
  id: z.string(),
  user: Known.optional(),
  canReply: z.boolean().optional(),
  isEnabled: z.boolean().optional(),
});
const DeleteBody = z.strictObject({
  business: z.string(),
  chat: z.number(),
  messages: z.array(z.number()),
});
const UpdateBody = z.strictObject({ kind: z.string(), content: z.unknown() });
const ChatBody = z.strictObject({ chat: z.number() });
const AccessBody = z.strictObject({
  chat: z.number(),
  access: z.enum(['open', 'blocked', 'kicked', 'muted']),
});

export const handleControl = createControlHandler<TelegramDouble>({
  'POST say': (double, body) => double.say(SayingBody.parse(body)),
  'POST press': (double, body) => ({ query: double.press(PressBody.parse(body)) }),
  'POST stop-draft': (double, body) => ({ draft: double.stopDraft(ChatBody.parse(body).chat) }),
  'POST reword': (double, body) => {
    const { chat, message, text } = RewordBody.parse(body);
    return double.reword(chat, message, text);
  },
  'POST react': (double, body) => double.react(ReactionBody.parse(body)),
  'POST connect': (double, body) => double.connectBusiness(ConnectBody.parse(body)),
  'POST delete': (double, body) => {
    const { business, chat, messages } = DeleteBody.parse(body);
    return double.deleteInBusiness(business, chat, messages);
  },
  'POST update': (double, body) => {
    const { kind, content } = UpdateBody.parse(body);
    return { update: double.update(kind, content) };
  },
  'POST fault': (double, body) => double.fault(Fault.parse(body)),
  'POST clear-faults': (double) => double.clearFaults(),
  'POST migrate': (double, body) => ({ chat: double.migrate(ChatBody.parse(body).chat) }),
  'POST access': (double, body) => {
    const { chat, access } = AccessBody.parse(body);
    return double.setAccess(chat, access);
  },
  'POST end-poll': (double) => double.endPoll(),
  'POST drop-connections': (double) => double.dropConnections(),
  'GET conversation': (double, _body, query) => double.conversation(Number(query.get('chat'))),
  'GET calls': (double, _body, query) => double.calls(query.get('method') ?? undefined),
  'GET answers': (double, _body, query) =>
    waitForNewest(double, query, (after) => listMessagesAfter(double, after)),
  'GET status': (double) => ({
    firstPollAt: double.transcript.firstArrival('getUpdates') ?? null,
    pendingUpdates: double.pendingUpdates().length,
  }),
});

function listMessagesAfter({ transcript }: TelegramDouble, after: number): VisibleMessage[] {
  return transcript.after(after).filter(({ from }) => from === 'bot');
}

const KINDS: Readonly<Record<string, { readonly kind: FileKind; readonly type: string }>> = {
  '.jpg': { kind: 'photo', type: 'image/jpeg' },
  '.jpeg': { kind: 'photo', type: 'image/jpeg' },
  '.png': { kind: 'photo', type: 'image/png' },
  '.ogg': { kind: 'voice', type: 'audio/ogg' },
  '.mp3': { kind: 'audio', type: 'audio/mpeg' },
  '.mp4': { kind: 'video', type: 'video/mp4' },
  '.pdf': { kind: 'document', type: 'application/pdf' },
};

export const TYPED_HELP = `Write to talk to the bot. Commands:
  !group TEXT        write in a group        !press LABEL     press this button on the newest message
  !file PATH [WORDS] send a file             !edit TEXT       edit your last message
  !post TEXT         post in a channel       !block, !unblock
  !react EMOJI       react to the bot's newest message; without EMOJI, remove the reaction
  !subscriber TEXT   write to the channel    !customer TEXT   write to a business account of the bot
  !guest TEXT        write in a chat where the bot is not a member
  !send FIELDS       send a message with these fields as JSON, such as {"story": {}}`;

/** The chats available to the typed commands. */
export const PLACES = { person: 1001, group: -5, channel: -1_000_000_000_009 };

const { person, group, channel } = PLACES;
const CHANNEL_DIRECT = -1_000_000_000_008;
/** The id of the connection to a business account. */
const BUSINESS = 'business';
const Fields = z.record(z.string(), z.unknown());

const ACTIONS = new Map<string, (double: TelegramDouble, rest: string) => unknown>([
  ['group', (double, text) => double.say({ chat: group, from: person, text })],
  ['post', (double, text) => double.say({ chat: { id: channel, type: 'channel' }, text })],
  [
    'subscriber',
    (double, text) => double.say({ chat: CHANNEL_DIRECT, from: person, subscriber: 7, text }),
  ],
  ['customer', sayAsCustomer],
  [
    'guest',
    (double, text) => double.say({ chat: -77, from: person, guest: getNewestQuery(double), text }),
  ],
  [
    'send',
    (double, fields) => double.say({ chat: person, extra: Fields.parse(JSON.parse(fields)) }),
  ],
  ['file', sendPersonFile],
  ['press', pressNewestButton],
  ['edit', editLastMessage],
  ['react', reactToNewestMessage],
  ['block', (double) => double.setAccess(person, 'blocked')],
  ['unblock', (double) => double.setAccess(person, 'open')],
]);

/** Executes a line typed at the prompt; throws an error with a readable reason. */
export function runTypedCommand(double: TelegramDouble, line: string): void {
  if (line.trim() === '') return;
  const [, name, rest = ''] = /^!(\w+)\s*(.*)$/su.exec(line) ?? [];
  if (name === undefined) {
    double.say({ chat: person, text: line });
    return;
  }
  const action = ACTIONS.get(name);
  if (action === undefined) throw new Error(`Unknown command !${name}.\n${TYPED_HELP}`);
  action(double, rest);
}

/** The account must be connected to the bot before the first customer writes. */
function sayAsCustomer(double: TelegramDouble, text: string): void {
  if (double.conversation(person, BUSINESS).length === 0) double.connectBusiness({ id: BUSINESS });
  double.say({ chat: person, business: BUSINESS, text });
}

function getNewestQuery(double: TelegramDouble): string {
  return `query-${double.transcript.calls().length + 1}-${double.pendingUpdates().length}`;
}

function sendPersonFile(double: TelegramDouble, rest: string): void {
  const [, path = '', words] = /^(\S+)\s*(.+)?$/su.exec(rest) ?? [];
  const { kind, type } = KINDS[extname(path).toLowerCase()] ?? {
    kind: 'document',
    type: 'application/octet-stream',
  };
  const bytes = new Uint8Array(readFileSync(path));
  const file = { kind, type, bytes, name: basename(path) };
  double.say({ chat: PLACES.person, file, ...(words && { text: words }) });
}

function pressNewestButton(double: TelegramDouble, label: string): void {
  const found = double.transcript.messages().findLast(({ buttons }) => buttons?.includes(label));
  if (found === undefined) throw new Error(`No message has a button "${label}".`);
  double.press({ chat: found.chatId, message: found.messageId, label, from: PLACES.person });
}

function editLastMessage(double: TelegramDouble, text: string): void {
  const own = double.conversation(PLACES.person).findLast(({ from }) => from === PLACES.person);
  if (own === undefined) throw new Error('You have not sent a message yet.');
  double.reword(PLACES.person, own.messageId, text);
}

function reactToNewestMessage(double: TelegramDouble, emoji: string): void {
  const newest = double.conversation(PLACES.person).findLast(({ from }) => from === 'bot');
  if (newest === undefined) throw new Error('The bot has not sent a message yet.');
  const emojis = emoji === '' ? [] : [emoji];
  double.react({ chat: PLACES.person, message: newest.messageId, emojis });
}
