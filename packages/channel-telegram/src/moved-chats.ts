import { type AdapterValues, type InboundMessage, toLiteralLine } from '@parley/core';
import { z } from 'zod';
import type { MakeCall } from './calls.ts';

const Moves = z.array(z.tuple([z.string(), z.string()]));
const KIND = 'moved-chats';
const ID = 'all';

/**
 * A message id in a supergroup that used to be a group; the group numbered its messages separately.
 */
const OF_SUPERGROUP = /^\d+s/;

/**
 * Groups that became supergroups. Inside Parley such a group keeps its original id, so that access
 * lists, history, memory, jobs, targets and spend remain valid. The new id is used only in calls to
 * Telegram. The supergroup numbers its messages from 1 again, so their ids get an `s`: `5` and `5s`
 * are two messages.
 */
export class MovedChatRegistry {
  readonly #values: AdapterValues;
  readonly #now = new Map<string, string>();
  readonly #first = new Map<string, string>();
  #loaded: Promise<void> | undefined;
  #noting: Promise<unknown> = Promise.resolve();

  constructor(values: AdapterValues) {
    this.#values = values;
  }

  /**
   * Resolves once the earlier moves are loaded. Rejects when the database does not respond; the
   * next call retries.
   */
  load(): Promise<void> {
    this.#loaded ??= this.#read().catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  async #read(): Promise<void> {
    const stored = (await this.#values.get(KIND, [ID])).get(ID);
    if (stored === undefined) return;
    for (const [first, now] of Moves.parse(JSON.parse(stored))) this.#keep(first, now);
  }

  #keep(first: string, now: string): void {
    this.#now.set(first, now);
    this.#first.set(now, first);
  }

  /**
   * Records a move durably; returns false if it was already known. Writes are serialized, because
   * all moves are stored as one value.
   */
  note(from: string, to: string): Promise<boolean> {
    const noting = this.#noting.then(() => this.#note(from, to));
    this.#noting = noting.catch(() => undefined);
    return noting;
  }

  async #note(from: string, to: string): Promise<boolean> {
    await this.load();
    const first = this.#first.get(from) ?? from;
    if (this.#now.get(first) === to) return false;
    const moves = [...this.#now].filter(([one]) => one !== first);
    const value = JSON.stringify([...moves, [first, to]]);
    await this.#values.set([{ kind: KIND, id: ID, value }]);
    this.#keep(first, to);
    return true;
  }

  /** Telegram's current id of a chat. */
  now(chatId: string): string {
    return this.#now.get(chatId) ?? chatId;
  }

  /** The id that the core uses for a chat. */
  first(now: string): string {
    return this.#first.get(now) ?? now;
  }

  /** Whether Telegram still knows a message of the chat by its number. */
  isThere(chatId: string, messageId: string): boolean {
    return !this.#now.has(chatId) || OF_SUPERGROUP.test(messageId);
  }

  /** The core's id for a message that Telegram has just numbered. */
  idOf(chatId: string, messageId: string): string {
    return this.#now.has(chatId) ? messageId.replace(/^\d+/, '$&s') : messageId;
  }

  /** Replaces the ids in a message or reaction with those of the core: the first id of its chat. */
  named<
    T extends Pick<InboundMessage, 'chat' | 'messageId' | 'replyTo'> & {
      readonly pressed?: string | undefined;
    },
  >(message: T): T {
    const { chat, messageId, replyTo, pressed } = message;
    const first = this.#first.get(chat.id);
    if (first === undefined) return message;
    const idOf = (id: string): string => this.idOf(first, id);
    return {
      ...message,
      messageId: idOf(messageId),
      chat: { ...chat, id: first, movedTo: chat.id },
      ...(replyTo && { replyTo: { ...replyTo, messageId: idOf(replyTo.messageId) } }),
      ...(pressed !== undefined && { pressed: idOf(pressed) }),
    };
  }
}

/** Whether a message id belongs to a supergroup that used to be a group. */
export function isSupergroupMessage(messageId: string): boolean {
  return OF_SUPERGROUP.test(messageId);
}

/** Wraps calls so that they use Telegram's current chat ids. */
export function withMovedChats(call: MakeCall, moved: MovedChatRegistry): MakeCall {
  return async (method, payload, options) => {
    await moved.load();
    if (!('chat_id' in payload)) return call(method, payload, options);
    const translated = { ...payload, chat_id: moved.now(String(payload.chat_id)) };
    return call(method, translated, options);
  };
}

/** The notice about a move, which the owner gets once. */
export function describeMove(title: string | undefined, first: string, now: string): string {
  const name = title === undefined ? 'A group' : `The group ${toLiteralLine(title)}`;
  return `${name} became a supergroup (${now}). You don't need to do anything: it keeps its history, memory, jobs and permissions, and its id in the settings, ${first}.`;
}
