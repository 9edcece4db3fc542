import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { FILES } from './files.ts';
import type {
  ChatLocation,
  PersonMessage,
  PlatformPeer,
  SendFault,
  VisibleMessage,
} from './peer.ts';

const OWNER = 501;
const FAULTS: Readonly<Record<Exclude<SendFault, 'thrown-out'>, object>> = {
  'rate-limited': {
    kind: 'refuse',
    code: 429,
    description: 'Too Many Requests: retry after 1',
    parameters: { retry_after: 1 },
  },
  'server-error': { kind: 'status', status: 502, body: '<html>Bad Gateway</html>' },
  'format-refused': {
    kind: 'refuse',
    code: 400,
    description: "Bad Request: can't parse entities: unsupported start tag",
  },
  'lost-before': { kind: 'reset' },
  'lost-after': { kind: 'reset', after: true },
};

/** Telegram: the Bot API protocol, implemented by the double. */
export async function startTelegramPeer(): Promise<PlatformPeer> {
  const double = await startTelegramDouble();
  let next = 10_000;
  const fresh = () => {
    next += 1;
    return next;
  };
  return {
    channel: 'telegram',
    traits: new Set([
      ...(['direct-chats', 'groups', 'bot-edits'] as const),
      ...([
        'threads',
        'albums',
        'edits',
        'documents',
        'bots',
        'quotes',
        'buttons',
        'administrators',
        'pings',
        'twice',
      ] as const),
      ...(['rate-limited', 'server-error', 'format-refused', 'lost-before'] as const),
      ...(['lost-after', 'thrown-out'] as const),
    ]),
    longest: 4_096,
    settings: { token: double.token, apiRoot: double.apiRoot, pace: false },
    owner: `telegram:${OWNER}`,
    ownerPlace: { id: String(OWNER), kind: 'direct' },
    direct: () => ({ id: String(fresh()), kind: 'direct' }),
    group: () => ({ id: String(-fresh()), kind: 'group' }),
    thread: () => ({ id: `-100${fresh()}/${fresh()}`, kind: 'thread' }),
    other: () => String(fresh()),
    promote: (place, person) => double.promote(parseLocation(place).chat, Number(person)),
    say: async (place, saying) => sendMessage(double, place, saying),
    edit: async (place, id, text) => double.reword(parseLocation(place).chat, Number(id), text),
    erase: () => Promise.reject(new Error('Telegram does not notify bots of deletions')),
    press: (place, id, label, from) =>
      double.press({
        chat: parseLocation(place).chat,
        message: Number(id),
        label,
        from: Number(from),
      }),
    seen: (place) => listMessages(double, place),
    trouble: (place, trouble) => {
      const { chat } = parseLocation(place);
      if (trouble === 'thrown-out') double.setAccess(chat, 'kicked');
      else double.fault({ ...fault(FAULTS[trouble]), method: 'sendMessage', chat });
    },
    // When a response with updates is lost, Telegram delivers them again.
    tellTwice: () => double.fault({ kind: 'reset', method: 'getUpdates', after: true }),
    tellSwapped: () => {
      throw new Error('Telegram keeps the order');
    },
    disconnect: () => double.dropConnections(),
    waitFor: (look, ms) => double.waitFor(look, ms),
    close: () => double.close(),
  };
}

type TelegramFault = Parameters<TelegramDouble['fault']>[0];
const fault = (of: object): TelegramFault => of as TelegramFault;

function parseLocation({ id }: ChatLocation): { readonly chat: number; readonly thread?: number } {
  const [chat, thread] = id.split('/').map(Number);
  return { chat: chat ?? 0, ...(thread === undefined ? {} : { thread }) };
}

function sendMessage(double: TelegramDouble, place: ChatLocation, saying: PersonMessage): string {
  const { text, mention, replyTo, files = [], from, bot } = saying;
  const person = from === undefined ? undefined : Number(from);
  const common = {
    ...parseLocation(place),
    from: bot ? { id: 777, is_bot: true } : person,
    replyTo: replyTo === undefined ? undefined : Number(replyTo),
    album: files.length > 1 ? 'album' : undefined,
  };
  const [first, ...more] = files;
  const words = mention ? `@${double.me.username} ${text}` : text;
  const message = double.say({ ...common, text: words, file: toFile(first) });
  // The first file has the caption, and the others arrive as separate messages.
  for (const file of more) double.say({ ...common, text: '', file: toFile(file) });
  return String(message.message_id);
}

function toFile(file: NonNullable<PersonMessage['files']>[number] | undefined) {
  if (file === undefined) return undefined;
  return file === 'picture'
    ? ({ kind: 'photo', bytes: FILES.picture } as const)
    : ({ kind: 'document', bytes: FILES.document, name: 'a.txt', type: 'text/plain' } as const);
}

function listMessages(double: TelegramDouble, place: ChatLocation): VisibleMessage[] {
  const { chat, thread } = parseLocation(place);
  return double
    .conversation(chat)
    .filter(({ threadId }) => threadId === thread)
    .map(({ messageId, from, text, replyTo, buttons }) => ({
      id: String(messageId),
      from: from === 'bot' ? 'bot' : String(from),
      text,
      ...(replyTo === undefined ? {} : { replyTo: String(replyTo) }),
      ...(buttons === undefined ? {} : { buttons }),
    }));
}
