import { GitHubDouble } from '../../platforms/chat-sdk/doubles/github.ts';
import type { GitHubComment } from '../../platforms/chat-sdk/doubles/github-state.ts';
import { toVisibleMarkdown } from '../../platforms/chat-sdk/doubles/visible-markdown.ts';
import type {
  ChatLocation,
  PersonMessage,
  PlatformPeer,
  SendFault,
  VisibleMessage,
} from './peer.ts';
import { createApiFaults, createWebhookPeer } from './webhook-peer.ts';

const BOT = 'parley-bot';
const OWNER = 'olga';
/**
 * GitHub does not redeliver automatically, so the operator runs a script that asks GitHub to
 * redeliver failed events.
 */
const SCRIPT_EVERY_MS = 500;
const FAULTS = createApiFaults({
  ...{ status: 429, headers: { 'retry-after': '1' }, body: { message: 'Too fast' } },
});

/**
 * GitHub: comments on issues and on a diff. GitHub does not have direct chats; a person who is
 * alone with the bot mentions it in an issue of their own.
 */
export async function startGitHubPeer(): Promise<PlatformPeer> {
  const double = await new GitHubDouble().start();
  let next = 0;
  const open = (kind: ChatLocation['kind']): ChatLocation => {
    next += 1;
    const repository = `acme/garden-${next}`;
    const issue = double.state.openIssue(repository, 'Tomatoes', kind === 'thread', 'ann');
    return { id: `${repository}#${issue}`, kind };
  };
  const redeliverFailed = async (): Promise<void> => {
    const failed = double.deliveries.all.filter(({ state }) => state === 'failed');
    for (const { id } of failed) await double.deliveries.redeliver(id);
  };
  let isLinked = false;
  const script = setInterval(() => isLinked && void redeliverFailed(), SCRIPT_EVERY_MS);
  script.unref();
  const roots = new Map<string, GitHubComment>();
  const peer = createWebhookPeer('github', double, [double.deliveries]);
  return {
    ...peer,
    traits: new Set([
      ...(['groups', 'threads', 'bots', 'pings', 'twice', 'out-of-order', 'thrown-out'] as const),
      ...(['bot-edits', 'rate-limited', 'server-error', 'lost-before', 'lost-after'] as const),
    ]),
    longest: 65_536,
    settings: {
      use: '@chat-adapter/github',
      options: {
        token: double.token,
        webhookSecret: double.webhookSecret,
        userName: BOT,
        apiUrl: double.apiUrl,
      },
    },
    owner: `github:${double.state.user(OWNER).id}`,
    ownerPlace: open('direct'),
    async link(parley) {
      await peer.link(parley);
      isLinked = true;
    },
    direct: () => open('direct'),
    group: () => open('group'),
    thread: () => open('thread'),
    other: (place) => `another-at-${place.id.replace(/\W/g, '-')}`,
    say: (place, saying) => sendMessage(double, place, saying, roots),
    seen: (place) => listMessages(double, place),
    trouble: (place, trouble) => injectFault(double, place, trouble),
    async close() {
      clearInterval(script);
      await double.close();
    },
  };
}

async function sendMessage(
  double: GitHubDouble,
  place: ChatLocation,
  { text, from, mention, bot }: PersonMessage,
  roots: Map<string, GitHubComment>,
): Promise<string> {
  const { repository, issue } = parseLocation(place);
  const isAddressed = mention === true || place.kind === 'direct';
  const author = bot ? 'robot[bot]' : (from ?? (issue === 1 ? OWNER : `ann-${issue}`));
  const root = roots.get(place.id);
  const comment = await double.say({
    ...{ repository, issue, from: author, isBot: bot === true },
    text: isAddressed ? `@${BOT} ${text}` : text,
    ...(place.kind === 'thread' ? { review: { inReplyTo: root?.id } } : {}),
  });
  if (place.kind === 'thread' && root === undefined) roots.set(place.id, comment);
  return String(comment.id);
}

function listMessages(double: GitHubDouble, place: ChatLocation): VisibleMessage[] {
  const { repository, issue } = parseLocation(place);
  const kind = place.kind === 'thread' ? 'review' : 'issue';
  return double.state.conversation(repository, issue, kind).map(({ id, user, body }) => ({
    id: String(id),
    from: user.login === BOT ? 'bot' : user.login,
    text: toVisibleMarkdown(body),
  }));
}

function injectFault(double: GitHubDouble, place: ChatLocation, trouble: SendFault): void {
  const { repository, issue } = parseLocation(place);
  if (trouble === 'format-refused') throw new Error('GitHub refuses no format');
  if (trouble === 'thrown-out') double.state.lock(repository, issue);
  else {
    const path = `/repos/${repository}/issues/${issue}/`;
    const where = ({ url }: { readonly url: URL }) => url.pathname.startsWith(path);
    double.fault({ ...FAULTS[trouble], route: 'POST', where });
  }
}

function parseLocation({ id }: ChatLocation): {
  readonly repository: string;
  readonly issue: number;
} {
  const [repository = '', issue] = id.split('#');
  return { repository, issue: Number(issue) };
}
