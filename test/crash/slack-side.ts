import { setTimeout as sleep } from 'node:timers/promises';
import { type SlackDouble, startSlackDouble } from '@parley/simulators/slack';
import { type LoadBalancer, startLoadBalancer } from './load-balancer.ts';
import { type CrashSide, listSenders } from './side.ts';
import { openSlackRooms, SlackPeople } from './slack-people.ts';
import { formatQuestion } from './words.ts';

/** How events reach Parley: requests to one of the gateways, or Socket Mode. */
export type SlackEvents =
  | { readonly kind: 'webhook'; readonly folders: readonly string[] }
  | { readonly kind: 'socket' };

const NAMES = { webhook: 'slack', socket: 'slack-socket' } as const;
const FIRST_SENDERS = { webhook: 50_001, socket: 60_001 } as const;
/**
 * Replaces Slack's three retries within six minutes: processes are killed every few seconds in this
 * test, so all three could fail, and Slack itself would lose the event.
 */
const RETRIES = { delaysMs: Array.from({ length: 2_000 }, () => 250), answerWithinMs: 3_000 };
const VERIFY_DELAY_MS = 250;

/** A workspace whose people ask in direct chats and in threads. */
export async function startSlackSide(chats: number, events: SlackEvents): Promise<CrashSide> {
  const { kind } = events;
  const double = await startSlackDouble({ retries: RETRIES });
  const rooms = openSlackRooms(double, listSenders(FIRST_SENDERS[kind], chats));
  const people = new SlackPeople(double, rooms);
  const closing = new AbortController();
  const balancer = kind === 'webhook' ? await startLoadBalancer(events.folders) : undefined;
  const verifying =
    balancer === undefined ? undefined : verifyRequestUrl(double, balancer, closing.signal);
  const { apiUrl, botToken, signingSecret, appToken } = double;
  const secrets = kind === 'socket' ? { mode: kind, appToken } : { signingSecret };
  return {
    channel: NAMES[kind],
    settings: {
      use: '@chat-adapter/slack',
      options: { apiUrl, botToken, ...secrets },
      access: { direct: 'open', groups: 'open' },
    },
    senders: rooms.map(({ sender }) => sender),
    ask: (question) => people.say(question.sender, formatQuestion(question)),
    allDelivered: () => people.allDelivered(),
    look: async () =>
      rooms.map(({ sender, channel }) => ({
        chatId: channel,
        senders: [sender],
        texts: double
          .conversation(channel)
          .filter(({ from }) => from === 'bot')
          .map(({ text }) => text),
      })),
    async close() {
      closing.abort();
      await verifying;
      await Promise.all([double.close(), balancer?.close()]);
    },
  };
}

/** Enters the request URL as soon as a gateway serves it. */
async function verifyRequestUrl(
  double: SlackDouble,
  { address }: LoadBalancer,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      return await double.setRequestUrl(`${address}/channels/${NAMES.webhook}/default/events`);
    } catch {
      await sleep(VERIFY_DELAY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
