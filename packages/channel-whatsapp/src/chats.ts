import { type AdapterValues, BoundedMap } from '@parley/core';
import { z } from 'zod';

/** The facts that the account remembers of a chat, because its answers depend on it. */
const ChatFacts = z.object({
  /** The address that its person last wrote under, if that is not the id of the chat. */
  address: z.string().optional(),
  /** Messages disappear after so many seconds; absent: they stay. */
  expiration: z.number().optional(),
  /** When the timer was set, in seconds since 1970, as phones compare it. */
  setAt: z.number().optional(),
});
export type ChatFacts = z.infer<typeof ChatFacts>;

/** The news of a message about its chat; absent: none. */
export interface ChatNews {
  readonly address?: string | undefined;
  /** 0: messages stay. */
  readonly expiration?: number | undefined;
  readonly setAt?: number | undefined;
}

const KIND = 'chat';
/** Chats kept in memory; of others the stored facts are read again. */
const REMEMBERED = 2_000;

/**
 * The way to answer in a chat: under the address that the person used, and disappearing where their messages do.
 * Stored only where that differs from what a chat is by default, and only when it changes.
 */
export class Chats {
  readonly #values: AdapterValues;
  readonly #known = new BoundedMap<string, Known>(REMEMBERED);

  constructor(values: AdapterValues) {
    this.#values = values;
  }

  /** Uses the news from now on. `keep` stores them: not before the person is one who is answered, as where `isKept`. */
  async hear(chatId: string, news: ChatNews): Promise<StoredNews> {
    const before = await this.#find(chatId);
    const facts = mergeNews(before.facts, chatId, news);
    this.#known.set(chatId, { ...before, facts });
    return { keep: () => this.#keep(chatId), isKept: before.stored !== null };
  }

  async of(chatId: string): Promise<ChatFacts> {
    return (await this.#find(chatId)).facts;
  }

  /** The JID under which a chat is answered. */
  async addressOf(chatId: string): Promise<string> {
    return (await this.of(chatId)).address ?? chatId;
  }

  async #find(chatId: string): Promise<Known> {
    const known = this.#known.get(chatId);
    if (known !== undefined) return known;
    const stored = (await this.#values.get(KIND, [chatId])).get(chatId) ?? null;
    const found = { facts: readFacts(stored), stored };
    this.#known.set(chatId, found);
    return found;
  }

  async #keep(chatId: string): Promise<void> {
    const { facts, stored } = await this.#find(chatId);
    const value = storedFacts(facts);
    if (value === stored) return;
    await this.#values.set([{ kind: KIND, id: chatId, value }]);
    this.#known.set(chatId, { facts, stored: value });
  }
}

interface StoredNews {
  readonly keep: () => Promise<void>;
  /** Something is stored of the chat. */
  readonly isKept: boolean;
}

/** Facts in use, and what is stored of them: those of people who are not answered are in memory alone. */
interface Known {
  readonly facts: ChatFacts;
  readonly stored: string | null;
}

/** Reads the stored facts. Unreadable ones count as none: the next message tells it again. */
function readFacts(stored: string | null): ChatFacts {
  try {
    return ChatFacts.safeParse(JSON.parse(stored ?? '{}')).data ?? {};
  } catch {
    return {};
  }
}

/** The facts after the news; an older timer than the known one, from a message on its way, changes nothing. */
function mergeNews(before: ChatFacts, chatId: string, news: ChatNews): ChatFacts {
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

/** Null removes the row of a chat that is as all others. */
function storedFacts(facts: ChatFacts): string | null {
  return Object.keys(facts).length === 0 ? null : JSON.stringify(facts);
}
