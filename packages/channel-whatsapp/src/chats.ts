import { type AdapterValues, BoundedMap } from '@parley/core';
import { z } from 'zod';

/** What is known about a chat and determines how it is answered. */
const ChatFacts = z.object({
  /** The address from which the person last wrote, if it differs from the chat's id. */
  address: z.string().optional(),
  /** The time (s) after which messages disappear; absent if they do not disappear. */
  expiration: z.number().optional(),
  /** When the timer was set, in seconds since 1970; phones compare this time. */
  setAt: z.number().optional(),
});
export type ChatMetadata = z.infer<typeof ChatFacts>;

/** What a message reveals about its chat. */
export interface ChatUpdate {
  readonly address?: string | undefined;
  /** The time (s) after which messages disappear; 0 if they do not disappear. */
  readonly expiration?: number | undefined;
  readonly setAt?: number | undefined;
}

const KIND = 'chat';
/** The maximum number of chats cached in memory; for other chats, the stored data is read again. */
const REMEMBERED = 2_000;

/**
 * Determines how to answer in a chat: to which address, and with which disappearing-messages timer.
 * This data is stored only if it differs from the defaults, and only when it changes.
 */
export class ChatDirectory {
  readonly #values: AdapterValues;
  readonly #known = new BoundedMap<string, KnownChat>(REMEMBERED);

  constructor(values: AdapterValues) {
    this.#values = values;
  }

  /**
   * Applies new data in memory; `keep` stores it. The caller stores the new data once the person is
   * answered, or immediately if `isKept` is true.
   */
  async hear(chatId: string, news: ChatUpdate): Promise<StoredUpdate> {
    const before = await this.#find(chatId);
    const facts = mergeChatUpdate(before.facts, chatId, news);
    this.#known.set(chatId, { ...before, facts });
    return { keep: () => this.#keep(chatId), isKept: before.stored !== null };
  }

  async of(chatId: string): Promise<ChatMetadata> {
    return (await this.#find(chatId)).facts;
  }

  /** The JID to which answers in a chat are sent. */
  async addressOf(chatId: string): Promise<string> {
    return (await this.of(chatId)).address ?? chatId;
  }

  async #find(chatId: string): Promise<KnownChat> {
    const known = this.#known.get(chatId);
    if (known !== undefined) return known;
    const stored = (await this.#values.get(KIND, [chatId])).get(chatId) ?? null;
    const found = { facts: parseChatMetadata(stored), stored };
    this.#known.set(chatId, found);
    return found;
  }

  async #keep(chatId: string): Promise<void> {
    const { facts, stored } = await this.#find(chatId);
    const value = serializeChatMetadata(facts);
    if (value === stored) return;
    await this.#values.set([{ kind: KIND, id: chatId, value }]);
    this.#known.set(chatId, { facts, stored: value });
  }
}

interface StoredUpdate {
  readonly keep: () => Promise<void>;
  /** Whether any data about the chat is stored. */
  readonly isKept: boolean;
}

/**
 * The current data, and the stored data. Data about people who are not answered is kept only in
 * memory.
 */
interface KnownChat {
  readonly facts: ChatMetadata;
  readonly stored: string | null;
}

/** Parses stored data and discards invalid values, which the next message reveals again. */
function parseChatMetadata(stored: string | null): ChatMetadata {
  try {
    return ChatFacts.safeParse(JSON.parse(stored ?? '{}')).data ?? {};
  } catch {
    return {};
  }
}

/**
 * Merges new data into the current data. A timer that is older than the known one comes from a
 * delayed message and is ignored.
 */
function mergeChatUpdate(before: ChatMetadata, chatId: string, news: ChatUpdate): ChatMetadata {
  const { address = before.address ?? chatId, expiration, setAt } = news;
  const isOld = setAt !== undefined && before.setAt !== undefined && setAt < before.setAt;
  const timer =
    expiration === undefined || isOld
      ? { expiration: before.expiration, setAt: before.setAt }
      : { expiration: expiration > 0 ? expiration : undefined, setAt };
  return ChatFacts.parse({
    ...(address !== chatId && { address }),
    ...(timer.expiration !== undefined && { expiration: timer.expiration }),
    ...(timer.setAt !== undefined && { setAt: timer.setAt }),
  });
}

/** Serializes the data; null deletes the row of a chat that has only default values. */
function serializeChatMetadata(facts: ChatMetadata): string | null {
  return Object.keys(facts).length === 0 ? null : JSON.stringify(facts);
}
