import type { ChatAddress } from '@parley/channels';
import { type AdapterValues, BoundedMap, type InboundMessage } from '@parley/core';
import type { Adapter } from 'chat';
import { z } from 'zod';

/** Where a message was written, in Parley's terms. */
export interface ChatLocation {
  readonly chatId: string;
  readonly threadId: string | undefined;
  readonly isDirect: boolean;
  /** The id of a thread's first message, on platforms whose thread ids contain it. */
  readonly root: string | undefined;
}

const TeamsThread = z.object({
  conversationId: z.string(),
  serviceUrl: z.string(),
  conversationType: z.string().optional(),
});
const MESSAGE_ID = /;messageid=(\d+)/;
const KIND = 'place';
const MAX_KNOWN = 10_000;

/**
 * Converts between adapters' thread ids and chats with threads. A Chat SDK thread id consists of
 * the adapter's name, the channel's id, and the thread. Teams ids contain the service URL for
 * messages, which is stored for each chat.
 */
export class LocationConverter {
  readonly #adapter: Adapter;
  readonly #values: Pick<AdapterValues, 'get' | 'set'>;
  readonly #teamsChats = new BoundedMap<string, string>(MAX_KNOWN);
  /** Whether each space of Google Chat is a direct chat. */
  readonly #spaces = new BoundedMap<string, boolean>(MAX_KNOWN);

  constructor(adapter: Adapter, values: Pick<AdapterValues, 'get' | 'set'>) {
    this.#adapter = adapter;
    this.#values = values;
  }

  /** Finds the location of a thread; `raw` is the event that contained the thread id. */
  async of(threadId: string, raw?: unknown): Promise<ChatLocation> {
    const { name } = this.#adapter;
    if (name === 'teams') return this.#ofTeams(threadId);
    const channelId = this.#adapter.channelIdFromThreadId(threadId);
    const chatId = removePrefix(channelId, `${name}:`);
    const isDM = this.#adapter.isDM?.(threadId) === true;
    const isDirect = name === 'gchat' ? await this.#isDirectSpace(threadId, chatId, raw) : isDM;
    const rest =
      threadId === channelId
        ? ''
        : removePrefix(threadId, threadId.startsWith(channelId) ? `${channelId}:` : `${name}:`);
    // For direct messages, a Google Chat thread id contains a marker instead of the thread.
    const thread = rest === '' || (name === 'gchat' && isDirect) ? undefined : rest;
    const root = thread === undefined ? undefined : getRootMessageId(name, chatId, thread);
    return { chatId, threadId: thread, isDirect, root };
  }

  /** The thread id with which the adapter can send to a chat. */
  async threadIdOf({ chatId, threadId }: ChatAddress): Promise<string> {
    const { name } = this.#adapter;
    if (name === 'teams') return this.#teamsThreadId(chatId, threadId);
    return threadId === undefined ? `${name}:${chatId}` : `${name}:${chatId}:${threadId}`;
  }

  /**
   * Google Chat marks direct chats only in messages sent to the app itself, not in button presses
   * or subscription events.
   */
  async #isDirectSpace(threadId: string, chatId: string, raw: unknown): Promise<boolean> {
    const told = parseSpace(raw);
    const isDM = this.#adapter.isDM?.(threadId) === true || isDirectSpace(told);
    const known = isDM || told?.type !== undefined ? isDM : this.#spaces.get(chatId);
    const isDirect =
      known ?? isDirectSpace(parseSpace((await this.#adapter.fetchThread(threadId)).metadata));
    this.#spaces.set(chatId, isDirect);
    return isDirect;
  }

  async #ofTeams(threadId: string): Promise<ChatLocation> {
    const isDirect = this.#adapter.isDM?.(threadId) === true;
    const channelId = this.#adapter.channelIdFromThreadId(threadId);
    const chatId = TeamsThread.parse(this.#adapter.decodeThreadId(channelId)).conversationId;
    if ((await this.#teamsChat(chatId)) !== channelId) {
      await this.#values.set([{ kind: KIND, id: chatId, value: channelId }]);
      this.#teamsChats.set(chatId, channelId);
    }
    const { conversationId } = TeamsThread.parse(this.#adapter.decodeThreadId(threadId));
    const [, root] = MESSAGE_ID.exec(conversationId) ?? [];
    return { chatId, threadId: root, isDirect, root };
  }

  /** The stored id of a Teams chat, which includes the service URL for messages. */
  async #teamsChat(chatId: string): Promise<string | undefined> {
    const known = this.#teamsChats.get(chatId);
    const stored = known ?? (await this.#values.get(KIND, [chatId])).get(chatId);
    if (stored !== undefined) this.#teamsChats.set(chatId, stored);
    return stored;
  }

  async #teamsThreadId(chatId: string, threadId: string | undefined): Promise<string> {
    const channelId = await this.#teamsChat(chatId);
    if (channelId === undefined) {
      throw new Error(`Nobody has written to the bot in the Teams chat ${chatId} yet`);
    }
    if (threadId === undefined) return channelId;
    const place = TeamsThread.parse(this.#adapter.decodeThreadId(channelId));
    return this.#adapter.encodeThreadId({
      ...place,
      conversationId: `${chatId};messageid=${threadId}`,
    });
  }
}

function removePrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

function getRootMessageId(name: string, chatId: string, thread: string): string | undefined {
  switch (name) {
    case 'slack':
      return thread;
    case 'linear':
      return /^c:(.+)/.exec(thread)?.[1];
    case 'github':
      return /:rc:(\d+)$/.exec(thread)?.[1];
    case 'gchat': {
      const id = Buffer.from(thread, 'base64url').toString().split('/').at(-1);
      return `${chatId}/messages/${id}.${id}`;
    }
    default:
      return undefined;
  }
}

const Space = z.object({ type: z.string().optional(), spaceType: z.string().optional() });
const Payload = z.object({ space: Space });
/** A Google Chat event, or a space as the Google Chat API returns it. */
const SpaceSource = z.union([
  z.object({ chat: z.object({ messagePayload: Payload }) }).transform((e) => e.chat.messagePayload),
  z
    .object({ chat: z.object({ buttonClickedPayload: Payload }) })
    .transform((e) => e.chat.buttonClickedPayload),
  Payload,
]);

function parseSpace(source: unknown): z.infer<typeof Space> | undefined {
  return SpaceSource.safeParse(source).data?.space;
}

function isDirectSpace(space: z.infer<typeof Space> | undefined): boolean {
  return space?.type === 'DM' || space?.spaceType === 'DIRECT_MESSAGE';
}

/** A thread opened by a message belongs to that message. */
export function toChat(
  { chatId, threadId, isDirect }: ChatLocation,
  title: string | undefined,
): InboundMessage['chat'] {
  const type = isDirect ? 'direct' : threadId === undefined ? 'group' : 'thread';
  return {
    id: chatId,
    type,
    ...(title !== undefined && !isDirect && { title }),
    ...(threadId !== undefined && { threadId }),
  };
}
