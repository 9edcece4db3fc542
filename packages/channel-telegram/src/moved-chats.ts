import { type AdapterValues, type InboundMessage, literalLine } from '@parley/core';
import { z } from 'zod';
import type { MakeCall } from './calls.ts';

const Moves = z.array(z.tuple([z.string(), z.string()]));
const KIND = 'moved-chats';
const ID = 'all';

/** A message id of a supergroup that was a group; the group had numbers of its own. */
const OF_SUPERGROUP = /^\d+s/;

/**
 * Groups that became supergroups. Inside Parley such a group keeps its first id, so that access lists, history,
 * memory, jobs, targets and spend stay what they are without being touched; the new id is used towards Telegram
 * alone. Its messages are numbered again from 1, so their ids get an `s`: `5` and `5s` are two messages.
 */
export class MovedChats {
  readonly #values: AdapterValues;
  readonly #now = new Map<string, string>();
  readonly #first = new Map<string, string>();
  #loaded: Promise<void> | undefined;
  #noting: Promise<unknown> = Promise.resolve();

  constructor(values: AdapterValues) {
    this.#values = values;
  }

  /** Resolves once the earlier moves are known. Rejects when the database does not answer; the next call tries again. */
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

  /** Records a move, durably; false where it is known. One after the other, as all are stored as one value. */
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

  /** The id by which Telegram knows a chat now. */
  now(chatId: string): string {
    return this.#now.get(chatId) ?? chatId;
  }

  /** The id by which the core knows a chat. */
  first(now: string): string {
    return this.#first.get(now) ?? now;
  }

  /** Whether a message of the chat can still be named towards Telegram. */
  isThere(chatId: string, messageId: string): boolean {
    return !this.#now.has(chatId) || OF_SUPERGROUP.test(messageId);
  }

  /** The id of a message that Telegram has just numbered. */
  idOf(chatId: string, messageId: string): string {
    return this.#now.has(chatId) ? messageId.replace(/^\d+/, '$&s') : messageId;
  }

  /** A message, or a reaction to one, as the core knows it: under the first id of its chat. */
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

/** Whether an id is one of a supergroup that was a group. */
export function isOfSupergroup(messageId: string): boolean {
  return OF_SUPERGROUP.test(messageId);
}

/** The same calls, with chats by the ids that Telegram knows now. */
export function withMoves(call: MakeCall, moved: MovedChats): MakeCall {
  return async (method, payload, options) => {
    await moved.load();
    if (!('chat_id' in payload)) return call(method, payload, options);
    const translated = { ...payload, chat_id: moved.now(String(payload.chat_id)) };
    return call(method, translated, options);
  };
}

/** The notice of a move, which the owner reads once. */
export function moveText(title: string | undefined, first: string, now: string): string {
  const name = title === undefined ? 'A group' : `The group ${literalLine(title)}`;
  return `${name} became a supergroup (${now}). Nothing has to be done: it keeps its history, memory, jobs and permissions, and its id in the settings, ${first}.`;
}
