import {
  findNamedChat,
  listOwnerChats,
  type NamedChat,
  type OwnerChatDeps,
} from '@parley/channels';
import { type InboundMessage, type ReplyRoute, stripNoncharacters } from '@parley/core';
import type { InboxRow, Store } from '@parley/store';
import { z } from 'zod';
import { type PostDeps, type PostedMessage, postMessage } from '../post-message.ts';
import { FILE_HINT, openOutgoingFile } from './send-file.ts';
import {
  createFailedOutcome,
  defineTool,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from './tool.ts';

interface MessageToolDeps extends OwnerChatDeps, Omit<PostDeps, 'clock'> {
  readonly chats: Readonly<Record<string, NamedChat>>;
  readonly store: Pick<Store, 'inbox' | 'links' | 'outbox' | 'groupContext' | 'agentFiles'>;
}

const MAX_PER_TURN = 5;
const MAX_CHARACTERS = 8_000;

const HINT =
  'Only if the person or a standing task asks for it: your answer reaches this chat by itself. Send it once and say so. People there do not see this conversation, so the text must say all they need.';

/**
 * Writes to a chat other than the one being answered (G02), from the main session only. An owner's
 * own chat needs no approval; any other chat must be named in the settings, and a person approves
 * the text first.
 */
export function createMessageTool(deps: MessageToolDeps): Tool {
  const names = Object.keys(deps.chats);
  return defineTool({
    name: 'message',
    summary: 'Sends a message to another chat.',
    hint: HINT,
    tier: 'middleware',
    group: 'messages',
    effect: 'external',
    actsOnce: true,
    audience: 'owner',
    approval: names.length === 0 ? 'never' : 'ask',
    spares: ({ to }) => OWNER.test(to),
    input: createMessageInput(names),
    async run({ to, text, file: name }, call): Promise<ToolOutcome> {
      const here = call.messages?.at(-1);
      const found = await findChat(deps, to, here);
      if (found.kind === 'none') return createFailedOutcome(`Not sent. ${found.reason}`);
      const file =
        name === undefined
          ? undefined
          : await openOutgoingFile(deps.store, call, { name }, found.route);
      if (file !== undefined && 'reason' in file)
        return createFailedOutcome(`Not sent. ${file.reason}`);
      const isAsked = found.isOwners && here !== undefined && here.trigger === undefined;
      const posted = await postMessage(
        { ...deps, clock: call.clock },
        {
          key: call.callId,
          turn: { id: call.turnId, most: MAX_PER_TURN },
          route: found.route,
          markdown: stripNoncharacters(text),
          isMarked: !isAsked,
          ...(file !== undefined && { file }),
        },
      );
      if (!('chat' in posted)) return createFailedOutcome(REFUSED[posted.kind]);
      await addToGroupContext(deps, found, text, call);
      call.log.info({ turn: call.turnId, ...posted.chat, post: posted.kind }, 'message posted');
      return { text: `Your message to ${to} is on its way, on ${found.route.channel}.` };
    },
  });
}

const REFUSED: Readonly<Record<Exclude<PostedMessage['kind'], 'posted' | 'known'>, string>> = {
  nothing: 'Not sent: nothing of this text would be visible.',
  over: 'Not sent: this turn was stopped, or its conversation started again.',
  'too-many': `Not sent: one turn sends ${MAX_PER_TURN} messages at most.`,
  'taken-over':
    'Not sent: a person has taken over that chat and talks to it themselves. Do not try again.',
};

function createMessageInput(names: readonly string[]) {
  const others = names.length === 0 ? '' : ` Other chats: ${names.join(', ')}.`;
  // Strict, because a person approves exactly these fields.
  return z.strictObject({
    to: z
      .string()
      .max(80)
      .describe(
        `\`owner\`: the owner’s other direct chat that was used last; \`owner:telegram\`: the one on that channel.${others}`,
      ),
    text: z.string().min(1).max(MAX_CHARACTERS).describe('In Markdown.'),
    file: z.string().min(1).max(500).optional().describe(FILE_HINT),
  });
}

/** Adds the message to its chat's context, so that the agent understands replies to it there. */
async function addToGroupContext(
  { store }: MessageToolDeps,
  { route, conversationId }: Extract<ChatLookup, { kind: 'chat' }>,
  text: string,
  { callId, reader, clock }: ToolCall,
): Promise<void> {
  if (conversationId === null || conversationId === reader.conversationId) return;
  const { channel, account, chatId } = route;
  await store.groupContext.keepOwn(
    { conversationId, channel, account, chatId },
    { key: callId, what: 'your message, asked for in another chat', text },
    clock(),
  );
}

type ChatLookup =
  | {
      readonly kind: 'chat';
      readonly route: ReplyRoute;
      /** The conversation in that chat; null if no one has written in that thread yet. */
      readonly conversationId: string | null;
      readonly isOwners: boolean;
    }
  | { readonly kind: 'none'; readonly reason: string };

const OWNER = /^owner(?::([a-z][a-z0-9-]*))?$/;

/**
 * Finds an owner's direct chat, or a chat from the settings. The route is that of the last message
 * from that chat, so nothing is sent to a chat in which no person has written (F11). `here` is the
 * message being answered; its chat receives the answer anyway.
 */
async function findChat(
  deps: MessageToolDeps,
  to: string,
  here: InboundMessage | undefined,
): Promise<ChatLookup> {
  const owners = OWNER.exec(to);
  if (owners !== null) return lookUpOwnerChat(deps, owners[1], here);
  const named = Object.hasOwn(deps.chats, to) ? deps.chats[to] : undefined;
  if (named !== undefined) return findChatByName(deps, to, named, here);
  const known = ['owner', ...Object.keys(deps.chats)].join(', ');
  return createChatNotFound(
    `No chat is called ${JSON.stringify(to.slice(0, 80))}. There are: ${known}.`,
  );
}

async function lookUpOwnerChat(
  deps: MessageToolDeps,
  channel: string | undefined,
  here: InboundMessage | undefined,
): Promise<ChatLookup> {
  const others: InboxRow[] = [];
  for await (const { last } of listOwnerChats(deps)) {
    const { message } = last;
    if (isSameChat(message, here)) continue;
    if (channel === undefined || message.channel === channel) others.push(last);
  }
  // Prefers a chat with the owner who asks.
  const own = others.find(({ message }) => message.sender.id === here?.sender.id);
  const row = own ?? others[0];
  if (row !== undefined) return toResolvedChat(row, { isOwners: true });
  const where = channel === undefined ? 'no other direct chat' : `no other chat on ${channel}`;
  return createChatNotFound(
    `The owner has used ${where} lately. What you answer reaches them here.`,
  );
}

async function findChatByName(
  deps: MessageToolDeps,
  name: string,
  named: NamedChat,
  here: InboundMessage | undefined,
): Promise<ChatLookup> {
  const known = await findNamedChat(deps, name, named);
  if (known.kind === 'none') return known;
  const { last, inThread } = known;
  if (inThread && isSameChat(last.message, here)) {
    return createChatNotFound(
      `${name} is the chat that you answer in: say it there as your answer.`,
    );
  }
  const found = toResolvedChat(last, { isOwners: false });
  if (inThread) return found;
  const { threadId: _, ...route } = found.route;
  const { thread } = named;
  const toThread = thread === undefined ? route : { ...route, threadId: thread };
  return { ...found, route: toThread, conversationId: null };
}

type ResolvedChat = Extract<ChatLookup, { kind: 'chat' }>;

function toResolvedChat(
  { route, conversationId }: InboxRow,
  { isOwners }: Pick<ResolvedChat, 'isOwners'>,
) {
  // The message does not quote another message.
  const { replyToMessageId: _, ...free } = route;
  return { kind: 'chat', route: free, conversationId, isOwners } as const satisfies ResolvedChat;
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

function createChatNotFound(reason: string): ChatLookup {
  return { kind: 'none', reason };
}
