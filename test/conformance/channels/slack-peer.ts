import { setTimeout as sleep } from 'node:timers/promises';
import { COMMANDS } from '@parley/channels';
import { type SlackDouble, startSlackDouble } from '@parley/simulators/slack';
import type { TestParley } from '../../e2e/parley-here.ts';
import { FILES } from './files.ts';
import type {
  ChatLocation,
  PersonMessage,
  PlatformPeer,
  SendFault,
  VisibleMessage,
} from './peer.ts';

/** The commands registered with the app; other text that starts with `/` is sent as a message. */
const REGISTERED = new Set(COMMANDS.map(({ name }) => name));
/** The retry schedule of the tests, about a minute long, replaces Slack's three retries. */
const RETRIES = { delaysMs: Array.from({ length: 240 }, () => 250), answerWithinMs: 3_000 };
/** The time limit in ms for the gateway to serve its request URL. */
const VERIFY_WITHIN_MS = 30_000;

/** Abilities that `everyChannel` tests but Slack does not have. */
export const SLACK_LACKS = ['forms', 'administrators', 'format-refused'] as const;

/**
 * Slack: the Web API with events by request URL or in Socket Mode, as implemented by the double.
 */
export async function startSlackPeer(mode: 'webhook' | 'socket'): Promise<PlatformPeer> {
  const double = await startSlackDouble({ retries: RETRIES });
  const owner = double.addMember({ name: 'The Owner' });
  const robot = double.addMember({ name: 'Another bot', isBot: true });
  let next = 0;
  const fresh = () => {
    next += 1;
    return double.addMember({ name: `Person ${next}` });
  };
  const channel = () => double.addChannel({ name: `room-${next}`, members: [fresh()] });
  const { apiUrl, botToken, appToken, signingSecret } = double;
  const secrets = mode === 'socket' ? { mode, appToken } : { signingSecret };
  return {
    channel: 'slack',
    traits: new Set([
      ...(['direct-chats', 'groups', 'bot-edits'] as const),
      ...(['threads', 'albums', 'edits', 'deletes', 'documents', 'bots', 'quotes'] as const),
      ...(['buttons', 'pings', 'twice', 'out-of-order', 'thrown-out'] as const),
      ...(['rate-limited', 'server-error', 'lost-before', 'lost-after'] as const),
    ]),
    longest: 4_000,
    settings: { use: '@chat-adapter/slack', options: { apiUrl, botToken, ...secrets } },
    owner: `slack:${owner}`,
    ownerPlace: { id: double.directChat(owner), kind: 'direct' },
    ...(mode === 'webhook' && { link: (parley: TestParley) => verifyRequestUrl(double, parley) }),
    direct: () => ({ id: double.directChat(fresh()), kind: 'direct' }),
    group: () => ({ id: channel(), kind: 'group' }),
    thread: () => {
      const id = channel();
      const { ts } = double.say({ channel: id, text: 'a thread' });
      return { id: `${id}/${ts}`, kind: 'thread' };
    },
    other: () => fresh(),
    say: async (place, saying) => sendMessage(double, place, saying, robot),
    edit: async (place, id, text) => double.reword(parseLocation(place).channel, id, text),
    erase: async (place, id) => double.erase(parseLocation(place).channel, id),
    press: (place, ts, label, from) =>
      void double.press({ channel: parseLocation(place).channel, ts, label, from }),
    seen: (place) => listMessages(double, place),
    trouble: (place, trouble) => injectFault(double, parseLocation(place).channel, trouble),
    tellTwice: () => double.fault({ kind: 'duplicate' }),
    tellSwapped: () => double.fault({ kind: 'swap' }),
    disconnect: () => {
      if (mode === 'webhook') double.fault({ kind: 'undelivered', times: 4 });
      double.dropConnections();
    },
    waitFor: (look, ms) => double.waitFor(look, ms),
    close: () => double.close(),
  };
}

/** Sets the request URL as soon as the newly started gateway serves it. */
async function verifyRequestUrl(double: SlackDouble, { address }: TestParley): Promise<void> {
  const url = `${address}/channels/slack/default/events`;
  const until = Date.now() + VERIFY_WITHIN_MS;
  for (;;) {
    try {
      await double.setRequestUrl(url);
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(50);
    }
  }
}

function parseLocation({ id }: ChatLocation): {
  readonly channel: string;
  readonly threadTs?: string;
} {
  const [channel = '', threadTs] = id.split('/');
  return { channel, ...(threadTs === undefined ? {} : { threadTs }) };
}

function sendMessage(
  double: SlackDouble,
  place: ChatLocation,
  saying: PersonMessage,
  robot: string,
): string {
  const { text, mention, replyTo, files = [], from, bot } = saying;
  const { channel, threadTs } = parseLocation(place);
  const [, name = '', rest] = /^\/(\w+)\s*(.*)$/s.exec(text) ?? [];
  // Slack does not run commands in threads, so text that starts with `/` is sent there as a
  // message.
  const isCommand = !mention && replyTo === undefined && threadTs === undefined;
  if (isCommand && REGISTERED.has(name))
    return double.slash({ channel, command: `/${name}`, text: rest, from });
  const answered = double.conversation(channel).find(({ ts }) => ts === replyTo);
  return double.say({
    ...{ channel, from: bot ? robot : from },
    threadTs: threadTs ?? answered?.threadTs ?? replyTo,
    text: mention ? `<@${double.me.id}> ${text}` : text,
    files: files.map((file) =>
      file === 'picture'
        ? { name: 'a.png', type: 'image/png', bytes: new Uint8Array(FILES.picture) }
        : { name: 'a.txt', type: 'text/plain', bytes: new Uint8Array(FILES.document) },
    ),
  }).ts;
}

function injectFault(double: SlackDouble, channel: string, trouble: SendFault): void {
  const aim = { channel, method: 'chat.postMessage' };
  switch (trouble) {
    case 'rate-limited':
      double.fault({ ...aim, kind: 'rate-limit', seconds: 1 });
      break;
    case 'server-error':
      double.fault({ ...aim, kind: 'status', status: 503 });
      break;
    case 'lost-before':
      double.fault({ ...aim, kind: 'reset' });
      break;
    case 'lost-after':
      double.fault({ ...aim, kind: 'reset', after: true });
      break;
    case 'thrown-out':
      double.setBot(channel, false);
      break;
    case 'format-refused':
      throw new Error('Slack refuses no format of a text');
  }
}

/**
 * Replies are listed with the messages of the channel, as answers to the first message of the
 * thread.
 */
function listMessages(double: SlackDouble, place: ChatLocation): VisibleMessage[] {
  const { channel, threadTs } = parseLocation(place);
  return double
    .conversation(channel)
    .filter((message) => threadTs === undefined || message.threadTs === threadTs)
    .map(({ ts, from, text, threadTs: answered, buttons }) => ({
      id: ts,
      from,
      text,
      ...(answered === undefined || answered === threadTs ? {} : { replyTo: answered }),
      ...(buttons.length === 0 ? {} : { buttons }),
    }));
}
