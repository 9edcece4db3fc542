import type { ChatAddress } from '@parley/channels';
import { BoundedMap } from '@parley/core';
import { z } from 'zod';
import type { TelegramApi } from './api.ts';
import type { MovedChatRegistry } from './moved-chats.ts';
import { parseThreadId, toChat } from './places.ts';
import { formatPersonName } from './senders.ts';
import type { WireMessage } from './wire.ts';

const REMEMBERED = 1_000;
const Titled = z.object({ title: z.string() });

/**
 * Titles of groups and names of topics, for people. A bot learns group titles and topic names from
 * messages, and can request only titles from Telegram.
 */
export class ChatNames {
  readonly #api: Pick<TelegramApi, 'telegram'>;
  readonly #moved: MovedChatRegistry;
  readonly #titles = new BoundedMap<string, string>(REMEMBERED);
  /** Names by chat and topic. */
  readonly #topics = new BoundedMap<string, string>(REMEMBERED);

  constructor(api: Pick<TelegramApi, 'telegram'>, moved: MovedChatRegistry) {
    this.#api = api;
    this.#moved = moved;
  }

  /**
   * A message in a topic is marked as a reply to the message that created the topic, which contains
   * its name.
   */
  seen(message: WireMessage): void {
    const { chat, direct_messages_topic: subscriber, reply_to_message } = message;
    const { title, threadId } = toChat(message);
    if (title !== undefined) this.#titles.set(String(chat.id), title);
    const person = subscriber?.user && formatPersonName(subscriber.user);
    const named = message.forum_topic_edited?.name ?? message.forum_topic_created?.name ?? person;
    const name = named ?? reply_to_message?.forum_topic_created?.name;
    const topic = `${chat.id} ${threadId}`;
    // The message that created the topic keeps the original name, so it does not override a newer
    // one.
    if (name !== undefined && (named !== undefined || !this.#topics.has(topic)))
      this.#topics.set(topic, name);
  }

  /**
   * A name such as `Family, topic Holidays`; undefined when Telegram does not provide one. Never
   * rejects.
   */
  async of({ chatId, threadId }: ChatAddress): Promise<string | undefined> {
    const now = this.#moved.now(chatId);
    const title = this.#titles.get(now) ?? (await this.#ask(now));
    const topic = this.#topics.get(`${now} ${threadId}`);
    if (title === undefined || threadId === undefined) return title;
    const place = parseThreadId(threadId);
    if (place.kind === 'subscriber') return `${title}, direct messages of ${topic ?? place.topic}`;
    return place.kind === 'topic' ? `${title}, topic ${topic ?? place.topic}` : title;
  }

  async #ask(chatId: string): Promise<string | undefined> {
    try {
      const telegram = await this.#api.telegram();
      return Titled.parse(await telegram.getChat(chatId)).title;
    } catch {
      // The bot is no longer a member of that chat.
      return undefined;
    }
  }
}
