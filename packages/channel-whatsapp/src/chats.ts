import { type AdapterValues, BoundedMap } from '@parley/core';
import { z } from 'zod';

/** Facts about a chat that determine how it is answered. */
const ChatFacts = z.object({
  /** The address that the person last wrote from, if it differs from the chat's id. */
  address: z.string().optional(),
  /** How long messages stay before they disappear, in seconds; absent if they do not disappear. */
  expiration: z.number().optional(),
  /** When the timer was set, in seconds since 1970, because phones compare it. */
  setAt: z.number().optional(),
});
export type ChatFacts = z.infer<typeof ChatFacts>;

/** Facts about a chat that a message reveals. */
export interface ChatUpdate {
  readonly address?: string | undefined;
  /** How long messages stay before they disappear, in seconds; 0 if they do not disappear. */
  readonly expiration?: number | undefined;
  readonly setAt?: number | undefined;
}

const KIND = 'chat';
/** The maximum number of chats cached in memory; for others the stored facts are read again. */
const REMEMBERED = 2_000;

/**
 * How to answer in a chat: under which address, and with which disappearing-messages timer. Facts
 * are stored only if they differ from the defaults, and only when they change.
 */
export class ChatDirectory {
  readonly #values: AdapterValues;
  readonly #known = new BoundedMap<string, KnownChat>(REMEMBERED);

  constructor(values: AdapterValues) {
    this.#values = values;
  }

  /**
   * Applies new facts in memory; `keep` stores them. The caller stores new facts once the person is
   * answered, or immediately if `isKept` is true.
   */
  async hear(chatId: string, news: ChatUpdate): Promise<StoredUpdate> {
    const before = await this.#find(chatId);
    const facts = mergeChatUpdate(before.facts, chatId, news);
    this.#known.set(chatId, { ...before, facts });
    return { keep: () => this.#keep(chatId), isKept: before.stored !== null };
  }

  async of(chatId: string): Promise<ChatFacts> {
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
    const found = { facts: readFacts(stored), stored };
    this.#known.set(chatId, found);
    return found;
  }

  async #keep(chatId: string): Promise<void> {
    const { facts, stored } = await this.#find(chatId);
    const value = serializeFacts(facts);
    if (value === stored) return;
    await this.#values.set([{ kind: KIND, id: chatId, value }]);
    this.#known.set(chatId, { facts, stored: value });
  }
}

interface StoredUpdate {
  readonly keep: () => Promise<void>;
  /** Whether any facts about the chat are stored. */
  readonly isKept: boolean;
}

/**
 * The current facts, and the facts as stored. Facts about people who are not answered are kept only
 * in memory.
 */
interface KnownChat {
  readonly facts: ChatFacts;
  readonly stored: string | null;
}

/** Parses stored facts and discards invalid ones, which the next message reveals again. */
function readFacts(stored: string | null): ChatFacts {
  try {
    return ChatFacts.safeParse(JSON.parse(stored ?? '{}')).data ?? {};
  } catch {
    return {};
  }
}

/**
 * Merges new facts into the current ones. A timer older than the known one, from a delayed message,
 * is ignored.
 */
function mergeChatUpdate(before: ChatFacts, chatId: string, news: ChatUpdate): ChatFacts {
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

/** Serializes facts; null deletes the row of a chat with only default facts. */
function serializeFacts(facts: ChatFacts): string | null {
  return Object.keys(facts).length === 0 ? null : JSON.stringify(facts);
}
