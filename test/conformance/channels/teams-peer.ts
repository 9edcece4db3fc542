import { TeamsDouble } from '../../platforms/chat-sdk/doubles/teams.ts';
import {
  getVisibleText,
  type TeamsConversation,
  type TeamsFile,
} from '../../platforms/chat-sdk/doubles/teams-state.ts';
import { FILES } from './files.ts';
import type {
  ChatLocation,
  PersonMessage,
  PlatformPeer,
  SendFault,
  VisibleMessage,
} from './peer.ts';
import { rerouteEverywhere } from './rerouting.ts';
import { createApiFaults, createWebhookPeer } from './webhook-peer.ts';

const OWNER = 'the-owner-with-a-long-id';
const PICTURE: TeamsFile = {
  ...{ kind: 'picture', name: 'a.png', type: 'image/png' },
  bytes: FILES.picture,
};
const DOCUMENT: TeamsFile = {
  ...{ kind: 'document', name: 'a.txt', type: 'text/plain' },
  bytes: FILES.document,
};
const FAULTS = createApiFaults();

/**
 * Microsoft Teams: direct chats, and channels with threads, whose messages the app may read without
 * being mentioned. A reply is a message in the thread of the message it answers.
 */
export async function startTeamsPeer(): Promise<PlatformPeer> {
  const double = await new TeamsDouble().start();
  const rerouting = rerouteEverywhere(double.hosts);
  let next = 0;
  const fresh = (): string => {
    next += 1;
    return `person-with-a-long-id-${next}`;
  };
  const direct = (name: string): ChatLocation => {
    const { id } = double.state.open(`a:${name}`, 'personal', [name]);
    return { id, kind: 'direct' };
  };
  const group = (): ChatLocation => {
    const { id } = double.state.open(`19:room-${fresh()}@thread.tacv2`, 'channel', [fresh()]);
    return { id, kind: 'group' };
  };
  const { appId, appPassword, tenantId: appTenantId } = double;
  return {
    ...createWebhookPeer('teams', double, [double.deliveries]),
    program: rerouting.program,
    traits: new Set([
      ...(['direct-chats', 'groups', 'threads', 'albums', 'quotes', 'buttons'] as const),
      ...(['twice', 'out-of-order', 'rate-limited', 'server-error', 'lost-before'] as const),
      ...(['lost-after', 'thrown-out', 'bot-edits'] as const),
    ]),
    longest: 12_000,
    settings: { use: '@chat-adapter/teams', options: { appId, appPassword, appTenantId } },
    owner: `teams:29:${OWNER}`,
    ownerPlace: direct(OWNER),
    direct: () => direct(fresh()),
    group,
    thread() {
      const { conversation } = findConversation(double, group());
      const id = double.state.newId();
      const root = { id, thread: id, createdAt: new Date(), text: 'a thread', attachments: [] };
      conversation.messages.push({ ...root, from: double.state.person(fresh()), cards: [] });
      return { id: `${conversation.id};messageid=${id}`, kind: 'thread' };
    },
    other: () => fresh(),
    say: (place, saying) => sendMessage(double, place, saying),
    press: (place, id, label, from) =>
      void double.press(
        findConversation(double, place).conversation,
        id,
        label,
        from.replace('29:', ''),
      ),
    seen: (place) => listMessages(double, place),
    trouble: (place, trouble) => injectFault(double, place, trouble),
    async close() {
      rerouting.end();
      await double.close();
    },
  };
}

function findConversation(double: TeamsDouble, { id }: Pick<ChatLocation, 'id'>) {
  const [base = '', thread] = id.split(';messageid=');
  const conversation = double.state.conversations.get(base);
  if (conversation === undefined) throw new Error(`There is no conversation ${id}.`);
  return { conversation, thread };
}

async function sendMessage(
  double: TeamsDouble,
  place: ChatLocation,
  { text, from, mention, replyTo, files = [] }: PersonMessage,
): Promise<string> {
  const { conversation, thread } = findConversation(double, place);
  const answered = conversation.messages.find(({ id }) => id === replyTo);
  const message = await double.say({
    conversation,
    thread: thread ?? answered?.thread,
    from: from?.replace('29:', '') ?? getMember(conversation),
    text,
    mention: mention === true,
    files: files.map((file) => (file === 'picture' ? PICTURE : DOCUMENT)),
  });
  return message.id;
}

function getMember({ members }: TeamsConversation): string {
  const [first] = members.values();
  return first?.name ?? '';
}

function listMessages(double: TeamsDouble, place: ChatLocation): VisibleMessage[] {
  const { conversation, thread } = findConversation(double, place);
  return conversation.messages
    .filter((message) => thread === undefined || message.thread === thread)
    .map((message) => {
      const { id, from, cards } = message;
      const buttons = cards.flatMap((card) => card.buttons.map(({ title }) => title));
      const root = message.thread === id ? undefined : message.thread;
      return {
        id,
        from: from === 'bot' ? 'bot' : from.id,
        text: getVisibleText(message),
        ...(root !== undefined && { replyTo: root }),
        ...(buttons.length > 0 && { buttons }),
      };
    });
}

function injectFault(double: TeamsDouble, place: ChatLocation, trouble: SendFault): void {
  const { conversation } = findConversation(double, place);
  if (trouble === 'format-refused') throw new Error('Teams refuses no format');
  if (trouble === 'thrown-out') conversation.hasBot = false;
  else {
    double.fault({
      ...FAULTS[trouble],
      route: 'POST /emea/v3/conversations/:conversation/activities',
      where: ({ params, json }) =>
        params.conversation?.split(';')[0] === conversation.id &&
        (json as { readonly type?: string }).type === 'message',
    });
  }
}
