import type { AdapterValues, InboundMessage } from '@parley/core';
import { BoundedMap } from '@parley/core';
import type { Adapter } from 'chat';
import { z } from 'zod';

/** Where something was said, in Parley's terms. */
export interface Place {
  readonly chatId: string;
  readonly threadId: string | undefined;
  readonly isDirect: boolean;
  /** The id of the message with which the thread begins, on platforms that show it in the id. */
  readonly root: string | undefined;
}

/** A chat and its thread, as a route names them. */
interface Address {
  readonly chatId: string;
  readonly threadId?: string | undefined;
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
 * Converts between the thread ids of adapters and chats with threads. A thread id of the Chat SDK
 * begins with the name of the adapter and the id of the channel; what follows is the thread. Teams
 * ids contain an address that messages must be sent to; it is stored for each chat.
 */
export class Places {
  readonly #adapter: Adapter;
  readonly #values: Pick<AdapterValues, 'get' | 'set'>;
  readonly #teamsChats = new BoundedMap<string, string>(MAX_KNOWN);

  constructor(adapter: Adapter, values: Pick<AdapterValues, 'get' | 'set'>) {
    this.#adapter = adapter;
    this.#values = values;
  }

  /** Finds the place of a thread. `raw` is the event that named it. */
  async of(threadId: string, raw?: unknown): Promise<Place> {
    const { name } = this.#adapter;
    const isDirect = this.#adapter.isDM?.(threadId) === true || isDirectSpace(name, raw);
    if (name === 'teams') return this.#ofTeams(threadId, isDirect);
    const channelId = this.#adapter.channelIdFromThreadId(threadId);
    const chatId = withoutPrefix(channelId, `${name}:`);
    const rest =
      threadId === channelId
        ? ''
        : withoutPrefix(threadId, threadId.startsWith(channelId) ? `${channelId}:` : `${name}:`);
    // A direct message of Google Chat is marked where other ids have their thread.
    const thread = rest === '' || (name === 'gchat' && isDirect) ? undefined : rest;
    const root = thread === undefined ? undefined : rootOf(name, chatId, thread);
    return { chatId, threadId: thread, isDirect, root };
  }

  /** The thread id under which the adapter sends to a chat. */
  async threadIdOf({ chatId, threadId }: Address): Promise<string> {
    const { name } = this.#adapter;
    if (name === 'teams') return this.#teamsThreadId(chatId, threadId);
    return threadId === undefined ? `${name}:${chatId}` : `${name}:${chatId}:${threadId}`;
  }

  async #ofTeams(threadId: string, isDirect: boolean): Promise<Place> {
    const channelId = this.#adapter.channelIdFromThreadId(threadId);
    const chatId = TeamsThread.parse(this.#adapter.decodeThreadId(channelId)).conversationId;
    if (this.#teamsChats.get(chatId) !== channelId) {
      await this.#values.set([{ kind: KIND, id: chatId, value: channelId }]);
      this.#teamsChats.set(chatId, channelId);
    }
    const { conversationId } = TeamsThread.parse(this.#adapter.decodeThreadId(threadId));
    const [, root] = MESSAGE_ID.exec(conversationId) ?? [];
    return { chatId, threadId: root, isDirect, root };
  }

  async #teamsThreadId(chatId: string, threadId: string | undefined): Promise<string> {
    const channelId =
      this.#teamsChats.get(chatId) ?? (await this.#values.get(KIND, [chatId])).get(chatId);
    if (channelId === undefined) {
      throw new Error(`Nobody has written to the bot in the Teams chat ${chatId} yet`);
    }
    this.#teamsChats.set(chatId, channelId);
    if (threadId === undefined) return channelId;
    const place = TeamsThread.parse(this.#adapter.decodeThreadId(channelId));
    return this.#adapter.encodeThreadId({
      ...place,
      conversationId: `${chatId};messageid=${threadId}`,
    });
  }
}

function withoutPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

function rootOf(name: string, chatId: string, thread: string): string | undefined {
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
const CardClick = z.object({
  chat: z.object({ buttonClickedPayload: z.object({ space: Space }) }),
});

/** Whether a press on Google Chat happened in a direct chat, which the id of its thread hides. */
function isDirectSpace(name: string, raw: unknown): boolean {
  const { data } = name === 'gchat' ? CardClick.safeParse(raw) : {};
  const space = data?.chat.buttonClickedPayload.space;
  return space?.type === 'DM' || space?.spaceType === 'DIRECT_MESSAGE';
}

/** The chat of a place. A thread that a message opens belongs to the message. */
export function chatOf(
  { chatId, threadId, isDirect }: Place,
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
