import { BoundedMap, type Logger, reasonOf } from '@parley/core';
import type { Adapter } from 'chat';

const MAX_NAMES = 5_000;

/** The names of chats and people. A name that is not known yet does not delay the message. */
export class ChatNames {
  readonly #adapter: Adapter;
  readonly #log: Logger;
  /** Null while a name is being fetched or if there is no name. */
  readonly #chats = new BoundedMap<string, string | null>(MAX_NAMES);

  constructor(adapter: Adapter, log: Logger) {
    this.#adapter = adapter;
    this.#log = log;
  }

  known(chatId: string): string | undefined {
    return this.#chats.get(chatId) ?? undefined;
  }

  /** Fetches a chat's name once, for its later messages. */
  learn(chatId: string, threadId: string): void {
    if (!this.#chats.has(chatId)) void this.of(chatId, threadId);
  }

  /** Never rejects. */
  async of(chatId: string, threadId: string): Promise<string | undefined> {
    const known = this.known(chatId);
    if (known !== undefined) return known;
    this.#chats.set(chatId, null);
    try {
      const name = await this.#fetch(threadId);
      if (name !== undefined && name !== '') this.#chats.set(chatId, name);
      return name;
    } catch (error) {
      this.#log.debug(
        { chatId, reason: reasonOf(error) },
        'the name of a chat could not be fetched',
      );
      return undefined;
    }
  }

  /** The display name of a user; adapters cache it. */
  readonly ofUser = async (userId: string): Promise<string | undefined> =>
    (await this.#adapter.getUser?.(userId))?.userName;

  async #fetch(threadId: string): Promise<string | undefined> {
    const { fetchChannelInfo, channelIdFromThreadId } = this.#adapter;
    if (fetchChannelInfo === undefined) {
      return (await this.#adapter.fetchThread(threadId)).channelName;
    }
    const channelId = channelIdFromThreadId.call(this.#adapter, threadId);
    return (await fetchChannelInfo.call(this.#adapter, channelId)).name;
  }
}
