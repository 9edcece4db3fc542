import { type NamedChat, namedChat, type OwnersChatDeps, ownersChats } from '@parley/channels';
import type { InboundMessage, ReplyRoute } from '@parley/contracts';
import type { InboxRow } from '@parley/store';

/** What finding a chat needs. */
export interface FindChatDeps extends OwnersChatDeps {
  readonly chats: Readonly<Record<string, NamedChat>>;
}

/** Where a message may go, or why not: for the model. */
export type FoundChat =
  | {
      readonly kind: 'chat';
      readonly route: ReplyRoute;
      /** Of the lane that this chat belongs to; null where nothing was said in that thread yet. */
      readonly conversationId: string | null;
      readonly isOwners: boolean;
    }
  | { readonly kind: 'none'; readonly reason: string };

/** `owner`, or `owner:` and a channel. */
const OWNER = /^owner(?::([a-z][a-z0-9-]*))?$/;

/** Whether a name stands for a chat of an owner, whatever the settings call others. */
export function isOwnersChat(to: string): boolean {
  return OWNER.test(to);
}

/**
 * The chat that a name stands for: a direct chat of an owner, or one of the settings. Its route is that
 * of the last message that came from there, so nothing goes where nobody has written (F11). `here`: the
 * message that is being answered, whose chat gets the answer and needs no message besides.
 */
export async function findChat(
  deps: FindChatDeps,
  to: string,
  here: InboundMessage | undefined,
): Promise<FoundChat> {
  const owners = OWNER.exec(to);
  if (owners !== null) return ownersChat(deps, owners[1], here);
  const named = Object.hasOwn(deps.chats, to) ? deps.chats[to] : undefined;
  if (named !== undefined) return chatCalled(deps, to, named, here);
  const known = ['owner', ...Object.keys(deps.chats)].join(', ');
  return none(`No chat is called ${JSON.stringify(to.slice(0, 80))}. There are: ${known}.`);
}

async function ownersChat(
  deps: FindChatDeps,
  channel: string | undefined,
  here: InboundMessage | undefined,
): Promise<FoundChat> {
  const others: InboxRow[] = [];
  for await (const { last } of ownersChats(deps)) {
    const { message } = last;
    if (isSameChat(message, here)) continue;
    if (channel === undefined || message.channel === channel) others.push(last);
  }
  // Of several owners, the one who asks.
  const own = others.find(({ message }) => message.sender.id === here?.sender.id);
  const row = own ?? others[0];
  if (row !== undefined) return chatOf(row, { isOwners: true });
  const where = channel === undefined ? 'no other direct chat' : `no other chat on ${channel}`;
  return none(`The owner has used ${where} lately. What you answer reaches them here.`);
}

async function chatCalled(
  deps: FindChatDeps,
  name: string,
  named: NamedChat,
  here: InboundMessage | undefined,
): Promise<FoundChat> {
  const known = await namedChat(deps, name, named);
  if (known.kind === 'none') return known;
  const { last, inThread } = known;
  if (inThread && isSameChat(last.message, here)) {
    return none(`${name} is the chat that you answer in: say it there as your answer.`);
  }
  const found = chatOf(last, { isOwners: false });
  if (inThread) return found;
  const { threadId: _, ...route } = found.route;
  const { thread } = named;
  const toThread = thread === undefined ? route : { ...route, threadId: thread };
  return { ...found, route: toThread, conversationId: null };
}

type OneChat = Extract<FoundChat, { kind: 'chat' }>;

function chatOf({ route, conversationId }: InboxRow, { isOwners }: Pick<OneChat, 'isOwners'>) {
  // It answers no message of that chat.
  const { replyToMessageId: _, ...free } = route;
  return { kind: 'chat', route: free, conversationId, isOwners } as const satisfies OneChat;
}

function isSameChat(one: InboundMessage, other: InboundMessage | undefined): boolean {
  return (
    other !== undefined &&
    one.channel === other.channel &&
    one.account === other.account &&
    one.chat.id === other.chat.id &&
    one.chat.threadId === other.chat.threadId
  );
}

function none(reason: string): FoundChat {
  return { kind: 'none', reason };
}
