import { GoogleChatDouble } from '../../platforms/chat-sdk/doubles/google-chat.ts';
import {
  type ChatSpace,
  getVisibleMessage,
  listPressableButtons,
} from '../../platforms/chat-sdk/doubles/google-chat-state.ts';
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

const OWNER = '1000000';
const ROBOT = '9000000';
const FAULTS = createApiFaults(undefined, 503);

/**
 * Google Chat: direct chats and rooms with threads, all subscribed, so that Pub/Sub redelivers
 * unacknowledged events. A reply is a message in the thread of the message it answers.
 */
export async function startGoogleChatPeer(): Promise<PlatformPeer> {
  const double = await new GoogleChatDouble().start();
  double.isSubscribed = () => true;
  const rerouting = rerouteEverywhere(double.hosts);
  let next = 1_000_000;
  const fresh = (): string => {
    next += 1;
    return String(next);
  };
  const direct = (person: string): ChatLocation => {
    const { name } = double.state.open(`direct-${person}`, 'DIRECT_MESSAGE', [person]);
    return { id: name, kind: 'direct' };
  };
  const group = (): ChatLocation => {
    const { name } = double.state.open(`room-${fresh()}`, 'SPACE', [fresh()]);
    return { id: name, kind: 'group' };
  };
  const { apiUrl, credentials, endpointUrl, pubsubAccount, app } = double;
  return {
    ...createWebhookPeer('google-chat', double, [double.interactions, double.pushes]),
    program: rerouting.program,
    traits: new Set([
      ...(['direct-chats', 'groups', 'threads', 'bots', 'quotes', 'buttons'] as const),
      ...(['twice', 'out-of-order', 'rate-limited', 'server-error', 'lost-before'] as const),
      ...(['lost-after', 'thrown-out', 'albums', 'documents', 'idempotent', 'bot-edits'] as const),
    ]),
    longest: 30_000,
    settings: {
      use: '@chat-adapter/gchat',
      options: {
        ...{ apiUrl, credentials, endpointUrl, botUserId: app.name },
        ...{ pubsubAudience: endpointUrl, pubsubServiceAccountEmail: pubsubAccount },
      },
    },
    owner: `google-chat:users/${OWNER}`,
    ownerPlace: direct(OWNER),
    direct: () => direct(fresh()),
    group,
    thread() {
      const { space } = findSpace(double, group());
      const [sender] = space.members.values();
      if (sender === undefined) throw new Error('The room is empty.');
      const facts = {
        text: 'a thread',
        syntax: 'chat' as const,
        cards: [],
        mentionsApp: false,
        files: [],
      };
      const { thread } = double.state.add(space, undefined, { ...facts, sender });
      return { id: thread, kind: 'thread' };
    },
    other: () => fresh(),
    say: (place, saying) => sendMessage(double, place, saying),
    press: (place, id, label, from) =>
      void double.press(findSpace(double, place).space, id, label, from.replace('users/', '')),
    seen: (place) => listMessages(double, place),
    trouble: (place, trouble) => injectFault(double, place, trouble),
    tellTwice: () => double.pushes.repeatNext(),
    async close() {
      rerouting.end();
      await double.close();
    },
  };
}

/** The name of a thread starts with the name of its space. */
function findSpace(double: GoogleChatDouble, { id }: Pick<ChatLocation, 'id'>) {
  const [, space = '', thread] = /^(spaces\/[^/]+)(\/threads\/.+)?$/.exec(id) ?? [];
  const found = double.state.spaces.get(space);
  if (found === undefined) throw new Error(`There is no space ${id}.`);
  return { space: found, thread: thread === undefined ? undefined : id };
}

async function sendMessage(
  double: GoogleChatDouble,
  place: ChatLocation,
  { text, from, mention, replyTo, files = [], bot }: PersonMessage,
): Promise<string> {
  const { space, thread } = findSpace(double, place);
  const answered = space.messages.find(({ name }) => name === replyTo);
  const message = await double.say({
    ...{ space, text, mention: mention === true, isBot: bot === true },
    // Messages in direct chats do not start threads.
    thread:
      thread ??
      answered?.thread ??
      (place.kind === 'direct' ? `${space.name}/threads/all` : undefined),
    from: bot ? ROBOT : (from?.replace('users/', '') ?? getMember(space)),
    files: files.map((file) =>
      file === 'picture'
        ? { name: 'a.png', type: 'image/png', bytes: FILES.picture }
        : { name: 'a.txt', type: 'text/plain', bytes: FILES.document },
    ),
  });
  return message.name;
}

function getMember({ members }: ChatSpace): string {
  const [first] = members.keys();
  return first?.replace('users/', '') ?? '';
}

function listMessages(double: GoogleChatDouble, place: ChatLocation): VisibleMessage[] {
  const { space, thread } = findSpace(double, place);
  return space.messages
    .filter((message) => thread === undefined || message.thread === thread)
    .map((message) => {
      const { name, sender } = message;
      const id = message.thread.split('/').at(-1);
      const root = `${space.name}/messages/${id}.${id}`;
      const buttons = listPressableButtons(message).map(({ text }) => text);
      return {
        id: name,
        from: sender.name === double.app.name ? 'bot' : sender.name,
        text: getVisibleMessage(message),
        ...(root !== name && place.kind !== 'direct' && { replyTo: root }),
        ...(buttons.length > 0 && { buttons }),
      };
    });
}

function injectFault(double: GoogleChatDouble, place: ChatLocation, trouble: SendFault): void {
  const { space } = findSpace(double, place);
  if (trouble === 'format-refused') throw new Error('Google Chat refuses no format');
  if (trouble === 'thrown-out') space.hasApp = false;
  else {
    const where = ({ params }: { readonly params: Readonly<Record<string, string>> }) =>
      `spaces/${params.space}` === space.name;
    double.fault({ ...FAULTS[trouble], route: 'POST /v1/spaces/:space/messages', where });
  }
}
