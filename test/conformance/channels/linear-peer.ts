import { LinearDouble } from '../../platforms/chat-sdk/doubles/linear.ts';
import { toVisibleMarkdown } from '../../platforms/chat-sdk/doubles/visible-markdown.ts';
import type {
  ChatLocation,
  PersonMessage,
  PlatformPeer,
  SendFault,
  VisibleMessage,
} from './peer.ts';
import { createApiFaults, createWebhookPeer } from './webhook-peer.ts';

const OWNER = 'olga';
const LIMITED = { type: 'ratelimited', code: 'RATELIMITED', statusCode: 400, userError: true };
const FAULTS = createApiFaults({
  status: 400,
  headers: { 'x-ratelimit-requests-remaining': '0', 'retry-after': '1' },
  body: { errors: [{ message: 'Rate limit exceeded', extensions: LIMITED }] },
});

/**
 * Linear: comments on issues, whose replies form threads. Linear does not have direct chats; a
 * person who is alone with the bot mentions it in one thread of an issue of their own.
 */
export async function startLinearPeer(): Promise<PlatformPeer> {
  const double = await new LinearDouble().start();
  /** The first comment of each thread. */
  const roots = new Map<string, string>();
  let next = 0;
  const open = (kind: ChatLocation['kind']): ChatLocation => {
    next += 1;
    return { id: double.state.openIssue(`Tomatoes ${next}`), kind };
  };
  const ownerPlace = open('direct');
  const { apiKey, apiUrl, webhookSecret } = double;
  return {
    ...createWebhookPeer('linear', double, [double.deliveries]),
    traits: new Set([
      ...(['groups', 'threads', 'bots', 'quotes', 'pings', 'bot-edits', 'thrown-out'] as const),
      ...(['twice', 'out-of-order', 'rate-limited', 'server-error'] as const),
      ...(['lost-before', 'lost-after'] as const),
    ]),
    longest: 65_536,
    settings: {
      use: '@chat-adapter/linear',
      options: { apiKey, apiUrl, webhookSecret, userName: 'parley' },
    },
    owner: `linear:${double.state.user(OWNER).id}`,
    ownerPlace,
    direct: () => open('direct'),
    group: () => open('group'),
    thread() {
      const place = open('thread');
      const author = double.state.user(`ann-${next}`);
      roots.set(place.id, double.state.add({ issueId: place.id, body: 'a thread' }, author).id);
      return place;
    },
    other: (place) => `another-at-${place.id}`,
    async say(place, saying) {
      const from = saying.from ?? (place === ownerPlace ? OWNER : `ann-at-${place.id}`);
      const id = await sendMessage(double, place, { ...saying, from }, roots.get(place.id));
      if (place.kind === 'direct' && !roots.has(place.id)) roots.set(place.id, id);
      return id;
    },
    seen: (place) => listMessages(double, place),
    trouble: (place, trouble) => injectFault(double, place, trouble),
  };
}

async function sendMessage(
  double: LinearDouble,
  { id: issueId, kind }: ChatLocation,
  { text, from = '', mention, replyTo, bot }: PersonMessage,
  root: string | undefined,
): Promise<string> {
  const answered = replyTo === undefined ? undefined : double.state.find(replyTo);
  const isAddressed = mention === true || kind === 'direct';
  const comment = await double.say({
    issueId,
    from: bot ? 'robot' : from,
    text: isAddressed ? `@parley ${text}` : text,
    parentId: root ?? answered?.parentId ?? answered?.id,
    isByApp: bot === true,
  });
  return comment.id;
}

function listMessages(double: LinearDouble, { id: issueId, kind }: ChatLocation): VisibleMessage[] {
  return double.state.conversation(issueId).map(({ id, user, body, parentId }) => ({
    id,
    from: user === double.state.bot ? 'bot' : user.name,
    text: toVisibleMarkdown(body),
    ...(parentId !== undefined && kind !== 'direct' && { replyTo: parentId }),
  }));
}

function injectFault(
  double: LinearDouble,
  { id: issueId }: ChatLocation,
  trouble: SendFault,
): void {
  if (trouble === 'format-refused') throw new Error('Linear refuses no format');
  if (trouble === 'thrown-out') double.state.close(issueId);
  else {
    const where = ({ body }: { readonly body: Buffer }) =>
      body.includes('commentCreate') && body.includes(issueId);
    double.fault({ ...FAULTS[trouble], where });
  }
}
