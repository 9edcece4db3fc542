import { setTimeout as sleep } from 'node:timers/promises';
import { type SlackDouble, startSlackDouble } from '@parley/simulators/slack';
import type { TestParley } from '../../e2e/parley-here.ts';
import { FILES } from './files.ts';
import type { Peer, Place, Saying, Seen, Trouble } from './peer.ts';

/** Events are repeated until Parley has been started again. */
const RETRIES = { delaysMs: [100, 500, ...Array.from({ length: 40 }, () => 1_000)] };

const FAULTS = {
  'rate-limited': { kind: 'rate-limit', seconds: 1 },
  'server-error': { kind: 'status', status: 502 },
  'lost-before': { kind: 'reset' },
  'lost-after': { kind: 'reset', after: true },
} as const;

/**
 * Slack, connected by the Chat SDK's adapter: through requests to Parley, or through a socket that
 * Parley opens.
 */
export const slackPeer = (mode: 'webhook' | 'socket') => async (): Promise<Peer> => {
  const double = await startSlackDouble({ retries: RETRIES });
  const people = new Map<string, readonly string[]>();
  let next = 0;
  const person = () => {
    next += 1;
    return double.addMember({ name: `Person ${next}` });
  };
  const group = (): Place => {
    const members = [person(), person()];
    const id = double.addChannel({ name: `room-${next}`, members });
    people.set(id, members);
    return { id, kind: 'group' };
  };
  const owner = double.addMember({ name: 'The Owner' });
  const { apiUrl, botToken, signingSecret, appToken } = double;
  return {
    channel: 'slack',
    traits: new Set([
      ...(['threads', 'albums', 'edits', 'deletes', 'documents', 'bots'] as const),
      ...(['quotes', 'buttons', 'pings', 'twice', 'out-of-order'] as const),
      ...(['rate-limited', 'server-error', 'thrown-out'] as const),
      ...(['lost-before', 'lost-after'] as const),
    ]),
    longest: 4_000,
    settings: {
      use: '@chat-adapter/slack',
      options: { apiUrl, botToken, ...(mode === 'socket' ? { appToken } : { signingSecret }) },
    },
    owner: `slack:${owner}`,
    ownerPlace: { id: double.directChat(owner), kind: 'direct' },
    ...(mode === 'webhook' && { link: (parley: TestParley) => enterUrl(double, parley) }),
    direct: () => ({ id: double.directChat(person()), kind: 'direct' }),
    group,
    thread() {
      const { id } = group();
      const { ts } = double.say({ channel: id, text: 'this begins a thread' });
      return { id: `${id}/${ts}`, kind: 'thread' };
    },
    other: (place) => people.get(chatOf(place).channel)?.[1] ?? '',
    say: async (place, saying) => say(double, place, saying),
    edit: async (place, id, text) => double.reword(chatOf(place).channel, id, text),
    erase: async (place, id) => double.erase(chatOf(place).channel, id),
    press: (place, ts, label, from) =>
      double.press({ channel: chatOf(place).channel, ts, label, from }),
    seen: (place) => seen(double, place),
    trouble: (place, trouble) => makeTrouble(double, chatOf(place).channel, trouble),
    tellTwice: () => double.fault({ kind: 'duplicate' }),
    tellSwapped: () => double.fault({ kind: 'swap' }),
    disconnect: () => double.dropConnections(),
    waitFor: (look, ms) => double.waitFor(look, ms),
    close: () => double.close(),
  };
};

/** Enters the request URL in the app's settings, once Parley answers there. */
async function enterUrl(double: SlackDouble, { address }: TestParley): Promise<void> {
  for (;;) {
    try {
      return await double.setRequestUrl(`${address}/channels/slack/default/`);
    } catch {
      await sleep(50);
    }
  }
}

function makeTrouble(double: SlackDouble, channel: string, trouble: Trouble): void {
  if (trouble === 'format-refused') throw new Error('Slack refuses no text for its format');
  if (trouble === 'thrown-out') double.setBot(channel, false);
  else double.fault({ ...FAULTS[trouble], method: 'chat.postMessage', channel });
}

/** A channel, and the first message of a thread in it. */
function chatOf({ id }: Place): { readonly channel: string; readonly threadTs?: string } {
  const [channel = '', threadTs] = id.split('/');
  return { channel, ...(threadTs !== undefined && { threadTs }) };
}

function say(double: SlackDouble, place: Place, saying: Saying): string {
  const { text, mention, from, replyTo, bot, files } = saying;
  const { channel, threadTs } = chatOf(place);
  // A reply is a message in the thread of the other.
  const answered = double.conversation(channel).find(({ ts }) => ts === replyTo);
  return double.say({
    channel,
    from: bot ? double.addMember({ name: 'Another bot', isBot: true }) : from,
    text: mention ? `<@${double.me.id}> ${text}` : text,
    threadTs: threadTs ?? answered?.threadTs ?? answered?.ts,
    files: files?.map((file) =>
      file === 'picture'
        ? { name: 'a.png', type: 'image/png', bytes: new Uint8Array(FILES.picture) }
        : { name: 'a.txt', type: 'text/plain', bytes: new Uint8Array(FILES.document) },
    ),
  }).ts;
}

function seen(double: SlackDouble, place: Place): Seen[] {
  const { channel, threadTs: thread } = chatOf(place);
  return double
    .conversation(channel)
    .filter(({ threadTs }) => thread === undefined || threadTs === thread)
    .map(({ ts, from, text, threadTs, buttons }) => ({
      id: ts,
      from,
      text,
      ...(threadTs !== undefined && { replyTo: threadTs }),
      ...(buttons.length > 0 && { buttons }),
    }));
}
