import type { OptionalFieldMode } from '../optional-fields.ts';
import type { FloodControl } from './faults.ts';
import { FileStore, type LocalServer } from './files.ts';
import { createBadRequestRefusal, createForbiddenRefusal } from './request.ts';
import type { Transcript } from './transcript.ts';
import { UpdateQueue, WebhookCaller } from './updates.ts';
import type { IdentifiedObject, WireChat, WireMessage, WireUser } from './wire.ts';

/** Unfinished text shown by sendMessageDraft. */
export interface MessageDraft {
  readonly chatId: number;
  readonly draftId: number;
  readonly text: string;
  readonly threadId?: number | undefined;
  /** Whether the draft has a stop button. */
  readonly canStop: boolean;
  /**
   * Whether the draft stays visible after the stop button was pressed, until the bot writes or the
   * draft expires.
   */
  readonly keepOnStop: boolean;
}

/** The servers' state for one bot. */
export interface BotAccount {
  readonly me: WireUser;
  readonly chats: ChatRegistry;
  readonly updates: UpdateQueue;
  readonly webhook: WebhookCaller;
  readonly transcript: Transcript;
  readonly flood: FloodControl;
  readonly clock: () => number;
  /** The commands stored by setMyCommands, by scope and language. */
  readonly commands: Map<string, unknown>;
  readonly files: FileStore;
  /** The sizes of the bot's picture as `PhotoSize`; null without a picture. */
  readonly picture: unknown;
  /** Button presses by query id. */
  readonly queries: Map<
    string,
    { readonly pressedAt: number; readonly from: number; answered: boolean }
  >;
  /** Custom emoji used in reactions, and the standard emoji that each resembles. */
  readonly customEmoji: Map<string, string>;
  /** People's accounts on whose behalf the bot answers, by connection id. */
  readonly business: Map<string, BusinessAccount>;
  /** Guest queries by query id. */
  readonly guests: Map<string, GuestQuery>;
  /** All drafts in the order they were sent. */
  readonly drafts: MessageDraft[];
}

/** Creates the account of a new bot; its id is the number at the start of the token. */
export function createBotAccount(
  token: string,
  parts: Pick<BotAccount, 'transcript' | 'flood' | 'clock'> & {
    readonly webhookTarget?: string | undefined;
    readonly optional?: OptionalFieldMode | undefined;
    readonly localServer?: LocalServer | undefined;
    readonly bytesOfPicture?: Uint8Array<ArrayBuffer> | undefined;
  },
): BotAccount {
  const me = {
    id: Number(token.split(':')[0]),
    is_bot: true,
    first_name: 'Parley',
    username: 'parley_test_bot',
    can_join_groups: true,
    can_read_all_group_messages: true,
    supports_inline_queries: false,
  };
  const updates: UpdateQueue = new UpdateQueue(100_000, () => {
    parts.transcript.changes.changed();
    webhook.wake();
  });
  updates.optional = parts.optional ?? 'present';
  const webhook = new WebhookCaller(updates, parts.clock, parts.webhookTarget);
  const files = new FileStore(parts.clock, token, parts.localServer);
  const { bytesOfPicture: bytes } = parts;
  return {
    me,
    picture: bytes === undefined ? null : files.store({ kind: 'photo', bytes }).photo,
    chats: new ChatRegistry(),
    updates,
    webhook,
    commands: new Map(),
    files,
    queries: new Map(),
    customEmoji: new Map(),
    drafts: [],
    business: new Map(),
    guests: new Map(),
    ...parts,
  };
}

export interface ChatRecord {
  info: WireChat;
  /** Messages by id, oldest first, excluding deleted messages. */
  readonly messages: Map<number, WireMessage>;
  /** Messages visible only to one person and the bot; they are numbered separately. */
  readonly ephemeral: Map<number, WireMessage>;
  lastEphemeral: number;
  /** The person who belongs to each topic, in the direct messages of a channel. */
  readonly subscribers: Map<number, WireUser>;
  readonly topics: Set<number>;
  /** Topics where only administrators may write. */
  readonly closedTopics: Set<number>;
  /** Reactions by message and person. */
  readonly reactions: Map<string, readonly object[]>;
  readonly administrators: Set<number>;
  closed: 'blocked' | 'kicked' | 'muted' | undefined;
  migratedTo: number | undefined;
}

/**
 * All chats that the bot has been in. A supergroup numbers its messages separately; all other chats
 * share one sequence.
 */
export class ChatRegistry {
  readonly #chats = new Map<number, ChatRecord>();
  readonly #ownNumbers = new Map<number, number>();
  #sharedNumber = 1;

  /** Returns the chat; creates or updates it from the given fields. */
  open(known: IdentifiedObject): ChatRecord {
    const old = this.#chats.get(known.id);
    if (old !== undefined) {
      old.info = { ...old.info, ...known };
      return old;
    }
    const record: ChatRecord = {
      info: { ...createNamedChat(known.id), ...known },
      messages: new Map(),
      ephemeral: new Map(),
      lastEphemeral: 0,
      topics: new Set(),
      subscribers: new Map(),
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

  /** All chats in the order they were opened. */
  all(): ChatRecord[] {
    return [...this.#chats.values()];
  }

  /**
   * Finds the chat that a call refers to by id or @username.
   * @throws Refusal with status 400 when the chat does not exist
   */
  find(reference: string | undefined): ChatRecord {
    if (reference === undefined || reference === '')
      throw createBadRequestRefusal('chat_id is empty');
    const found = reference.startsWith('@')
      ? this.all().find(({ info }) => info.username === reference.slice(1))
      : this.#chats.get(Number(reference));
    if (found === undefined) throw createBadRequestRefusal('chat not found');
    return found;
  }

  /**
   * Finds the chat for a call that writes.
   * @throws Refusal when the group was upgraded or the bot was removed or blocked
   */
  findWritable(reference: string | undefined): ChatRecord {
    const chat = this.find(reference);
    if (chat.migratedTo !== undefined) {
      throw createBadRequestRefusal('group chat was upgraded to a supergroup chat', {
        migrate_to_chat_id: chat.migratedTo,
      });
    }
    if (chat.closed === 'blocked') throw createForbiddenRefusal('bot was blocked by the user');
    if (chat.closed === 'kicked')
      throw createForbiddenRefusal(`bot was kicked from the ${chat.info.type} chat`);
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

function createNamedChat(id: number): WireChat {
  if (id > 0) return { id, type: 'private', first_name: `User ${id}` };
  const type = id <= -1_000_000_000_000 ? 'supergroup' : 'group';
  return { id, type, title: `Group ${-id}` };
}

/** A business account on whose behalf the bot answers customers. */
export interface BusinessAccount {
  readonly user: WireUser;
  /** The ids and message numbers of its chats are separate from the bot's own. */
  readonly chats: ChatRegistry;
  canReply: boolean;
  isEnabled: boolean;
}

/** A question that a person asks in a chat without the bot. */
export interface GuestQuery {
  readonly chatId: number;
  /** The bot's answer; undefined while there is none. */
  answer: string | undefined;
}
