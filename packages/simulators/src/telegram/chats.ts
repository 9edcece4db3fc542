import { badRequest, forbidden } from './refusal.ts';
import type { WireChat, WireMessage } from './wire.ts';

/** A chat and everything in it. */
export interface ChatRecord {
  info: WireChat;
  /** By message id, oldest first; deleted messages are gone. */
  readonly messages: Map<number, WireMessage>;
  /** Ids of the topics of a forum. */
  readonly topics: Set<number>;
  /** Topics in which only administrators write. */
  readonly closedTopics: Set<number>;
  /** By message and person. */
  readonly reactions: Map<string, readonly object[]>;
  /** Ids of the people who may manage it. */
  readonly administrators: Set<number>;
  closed: 'blocked' | 'kicked' | 'muted' | undefined;
  migratedTo: number | undefined;
}

/** All chats the bot was ever in. Supergroups number their own messages, other chats share one row. */
export class Chats {
  readonly #chats = new Map<number, ChatRecord>();
  readonly #ownNumbers = new Map<number, number>();
  #sharedNumber = 1;

  /** The chat, made or renamed from what is known about it. */
  open(known: { readonly id: number; readonly [field: string]: unknown }): ChatRecord {
    const old = this.#chats.get(known.id);
    if (old !== undefined) {
      old.info = { ...old.info, ...known };
      return old;
    }
    const record: ChatRecord = {
      info: { ...namedAfterId(known.id), ...known },
      messages: new Map(),
      topics: new Set(),
      closedTopics: new Set(),
      reactions: new Map(),
      administrators: new Set(),
      closed: undefined,
      migratedTo: undefined,
    };
    this.#chats.set(known.id, record);
    return record;
  }

  get(id: number): ChatRecord | undefined {
    return this.#chats.get(id);
  }

  /** Every chat, in the order they were opened. */
  all(): ChatRecord[] {
    return [...this.#chats.values()];
  }

  /**
   * The chat a call names by id or @username.
   * @throws Refusal 400 when there is none.
   */
  find(reference: string | undefined): ChatRecord {
    if (reference === undefined || reference === '') throw badRequest('chat_id is empty');
    const found = reference.startsWith('@')
      ? this.all().find(({ info }) => info.username === reference.slice(1))
      : this.#chats.get(Number(reference));
    if (found === undefined) throw badRequest('chat not found');
    return found;
  }

  /**
   * The same, for calls that write there.
   * @throws Refusal: moved to another id, or the bot was thrown out.
   */
  findWritable(reference: string | undefined): ChatRecord {
    const chat = this.find(reference);
    if (chat.migratedTo !== undefined) {
      throw badRequest('group chat was upgraded to a supergroup chat', {
        migrate_to_chat_id: chat.migratedTo,
      });
    }
    if (chat.closed === 'blocked') throw forbidden('bot was blocked by the user');
    if (chat.closed === 'kicked') throw forbidden(`bot was kicked from the ${chat.info.type} chat`);
    return chat;
  }

  nextMessageId(chat: ChatRecord): number {
    if (chat.info.type === 'supergroup' || chat.info.type === 'channel') {
      const number = (this.#ownNumbers.get(chat.info.id) ?? 0) + 1;
      this.#ownNumbers.set(chat.info.id, number);
      return number;
    }
    this.#sharedNumber += 1;
    return this.#sharedNumber;
  }
}

function namedAfterId(id: number): WireChat {
  if (id > 0) return { id, type: 'private', first_name: `User ${id}` };
  const type = id <= -1_000_000_000_000 ? 'supergroup' : 'group';
  return { id, type, title: `Group ${-id}` };
}
