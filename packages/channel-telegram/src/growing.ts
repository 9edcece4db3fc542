import type { ChatAddress, GrowingAnswer, StreamPace } from '@parley/channels';
import {
  type AdapterValues,
  BoundedMap,
  ChannelError,
  type Clock,
  createLanes,
  type Logger,
  type Monotonic,
  type OutboundPart,
  reasonOf,
} from '@parley/core';
import { z } from 'zod';
import type { TelegramApi } from './api.ts';
import { hasSoleRecipient } from './ephemeral.ts';
import { type CallFailure, toCallFailure, toRetryableError } from './failures.ts';
import { findFirstBotMessage, getNumberSequence } from './find-sent.ts';
import { parseMessageNumber, toReplyParameters } from './format.ts';
import type { MovedChatRegistry } from './moved-chats.ts';
import { toRequestFields } from './places.ts';
import { MAX_TEXT } from './settings.ts';
import type { WireMessage } from './wire.ts';

const Stored = z.object({
  turnId: z.string(),
  /** Telegram's current id of the chat. */
  chatId: z.string(),
  /** The highest known message number in the chat's sequence when the message was sent. */
  after: z.int(),
  /** Null while it is unknown whether Telegram received the message. */
  number: z.int().nullable(),
  at: z.number(),
});

/** A message that shows a growing answer. */
interface GrowingMessage extends z.infer<typeof Stored> {
  number: number | null;
  /** The text of the message in HTML; absent when an earlier process wrote it. */
  text?: string;
  /** When this process replaced the growing text with the finished answer; absent until then. */
  doneAt?: number;
}

/** The grown message that becomes a part of the finished answer. */
export interface FinalizedMessage {
  readonly number: number;
  readonly text?: string | undefined;
}

interface GrowingDeps {
  readonly api: Pick<TelegramApi, 'call' | 'send'>;
  readonly moved: MovedChatRegistry;
  readonly values: Pick<AdapterValues, 'get' | 'set'>;
  readonly settings: { readonly growInGroups: boolean; readonly linkPreviews: boolean };
  readonly log: Logger;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly stopping: AbortSignal;
  /** See `ChannelContext.holdsAccount`. */
  readonly holdsAccount: () => boolean;
}

/**
 * A shorter answer is sent as one message that is never edited. The limit, like `FULL`, is in
 * characters.
 */
const MIN_CHARACTERS = 80;
/** The length at which the first message is full; only the first message grows. */
const FULL = MAX_TEXT + 500;
const FIRST_AFTER_MS = 1_000;
const EDIT_INTERVAL_MS = 3_000;
/**
 * How long answers do not grow in a chat after Telegram returned a 429 there, in ms. Telegram
 * extends the penalty with every further edit.
 */
const NO_MORE_MS = 10 * 60_000;
const SEND_TIMEOUT_MS = 15_000;
/**
 * How long finished and unfinished messages are remembered, in ms. A message part whose
 * confirmation was lost is retried within this time and must find its message.
 */
const [KEPT_DONE_MS, KEPT_MS] = [10 * 60_000, 24 * 60 * 60_000];
const MAX_KEPT = 200;
const REMEMBERED = 1_000;
const [KIND, ID] = ['growing', 'all'];

/**
 * Shows unfinished answers in groups, where Telegram has no drafts. Each answer is one message,
 * which is edited and becomes the first part of the finished answer. The message notifies people
 * once, when it appears. Telegram has no idempotency key, so the last message number of the chat is
 * stored before the message is sent; after a crash the search starts after that number.
 */
export class GrowingMessageManager {
  readonly #deps: GrowingDeps;
  /** Growing messages by turn. */
  readonly #messages = new Map<string, GrowingMessage>();
  readonly #inLanes = createLanes();
  /** Turns that must no longer show unfinished text. */
  readonly #over = new BoundedMap<string, true>(REMEMBERED);
  /** The highest known message number in each sequence. */
  readonly #latest = new BoundedMap<string, number>(REMEMBERED);
  /** The chat and number of messages that the bot has sent through other code paths. */
  readonly #sent = new BoundedMap<string, true>(REMEMBERED);
  /** For each chat, the time until which no calls may be made, in monotonic time. */
  readonly #quietUntil = new BoundedMap<string, number>(REMEMBERED);
  #loaded: Promise<void> | undefined;

  constructor(deps: GrowingDeps) {
    this.#deps = deps;
  }

  /**
   * Records the latest message number of a group. Channels are left out, because an unfinished
   * answer should not be shown to a channel's audience.
   */
  seen({ chat, message_id }: Pick<WireMessage, 'chat' | 'message_id'>): void {
    // A message visible to only one person has the number 0.
    if (chat.type !== 'channel' && message_id > 0)
      this.#note(getNumberSequence(String(chat.id)), message_id);
  }

  /** Records a message that the bot has sent. */
  sent(chatId: string, platformMessageId: string): void {
    const number = parseMessageNumber(platformMessageId);
    if (number === undefined) return;
    const now = this.#deps.moved.now(chatId);
    this.#sent.set(`${now} ${number}`, true);
    if (this.#latest.has(getNumberSequence(now))) this.#note(getNumberSequence(now), number);
  }

  #note(row: string, number: number): void {
    this.#latest.set(row, Math.max(number, this.#latest.get(row) ?? 0));
  }

  /** See `StreamingCapability`. */
  pace(address: ChatAddress, length: number): StreamPace | null {
    const { chatId } = address;
    const { settings, moved } = this.#deps;
    // A growing message would be visible to everyone.
    if (hasSoleRecipient(address)) return null;
    const isKnown = this.#latest.has(getNumberSequence(moved.now(chatId)));
    const mayGrow = settings.growInGroups && isKnown && !this.#isSpared(chatId);
    if (!mayGrow || length < MIN_CHARACTERS || length > FULL) return null;
    return { minIntervalMs: EDIT_INTERVAL_MS + length, firstAfterMs: FIRST_AFTER_MS };
  }

  /**
   * Throws a ChannelError while Telegram throttles this chat, because sends and edits share its
   * rate limit.
   */
  mustBeQuiet(chatId: string): void {
    const retryAfterMs = (this.#quietUntil.get(chatId) ?? 0) - this.#deps.monotonic();
    if (retryAfterMs <= 0) return;
    const message = `Telegram chat ${chatId}: Telegram asked Parley to wait; the message will be sent after that.`;
    throw new ChannelError({ kind: 'rate-limited', retryAfterMs, scope: 'chat' }, message);
  }

  /** Sends or edits the beginning of the unfinished answer, in one call. */
  async update(address: ChatAddress, turnId: string, answer: GrowingAnswer): Promise<void> {
    const mayShow = () => !this.#over.has(turnId) && !this.#isSpared(address.chatId);
    if (!mayShow()) return;
    await this.#inLanes(turnId, async () => {
      await this.#load();
      const text = (await answer.show())[0]?.text.trim() ?? '';
      // Another gateway may already have sent the answer.
      if (!mayShow() || text === '' || !this.#deps.holdsAccount()) return;
      const growing = this.#messages.get(turnId);
      if (growing === undefined) await this.#begin(address, turnId, text);
      else if (growing.number !== null && growing.text !== text)
        await this.#edit(growing, growing.number, text, address.chatId);
    });
  }

  /** Whether Telegram has recently returned a 429 for this chat. */
  #isSpared(chatId: string): boolean {
    const until = this.#quietUntil.get(chatId);
    return until !== undefined && this.#deps.monotonic() < until + NO_MORE_MS;
  }

  async #begin(address: ChatAddress, turnId: string, text: string): Promise<void> {
    const { api, moved, clock } = this.#deps;
    const chatId = moved.now(address.chatId);
    const after = this.#latest.get(getNumberSequence(chatId));
    if (after === undefined) return;
    const growing: GrowingMessage = { turnId, chatId, after, number: null, at: clock() };
    this.#messages.set(turnId, growing);
    await this.#save().catch((error: unknown) => {
      this.#messages.delete(turnId);
      throw error;
    });
    const { replyToMessageId: id } = address;
    const quoted = id !== undefined && moved.isThere(address.chatId, id) ? id : undefined;
    const place = { ...toRequestFields(address.threadId), ...toReplyParameters(quoted) };
    try {
      const payload = { chat_id: chatId, ...place, ...this.#content(text) };
      growing.number = Number(await api.send('sendMessage', payload, this.#limit()));
      growing.text = text;
      this.#note(getNumberSequence(chatId), growing.number);
    } catch (thrown) {
      const failure = toCallFailure(thrown);
      // If the message may have arrived, it is searched for when the answer is finished.
      if (failure.kind !== 'unknown') this.#messages.delete(turnId);
      this.#end(turnId, address.chatId, failure);
    }
    await this.#save();
  }

  async #edit(
    growing: GrowingMessage,
    number: number,
    text: string,
    chatId: string,
  ): Promise<void> {
    const { api, stopping, log } = this.#deps;
    const payload = { chat_id: growing.chatId, message_id: number, ...this.#content(text) };
    try {
      await api.call('editMessageText', payload, stopping);
      growing.text = text;
    } catch (thrown) {
      const failure = toCallFailure(thrown);
      if (failure.kind === 'refused') return this.#end(growing.turnId, chatId, failure);
      // The message may contain the earlier or the later text, and the next edit replaces both.
      delete growing.text;
      log.debug(
        { turn: growing.turnId, reason: failure.reason },
        'the stored state of a growing answer may be outdated',
      );
    }
  }

  #content(text: string): object {
    const { linkPreviews } = this.#deps.settings;
    const previews = linkPreviews ? {} : { link_preview_options: { is_disabled: true } };
    return { text, parse_mode: 'HTML', ...previews };
  }

  #limit(): AbortSignal {
    return AbortSignal.any([this.#deps.stopping, AbortSignal.timeout(SEND_TIMEOUT_MS)]);
  }

  /** Stops showing a turn's unfinished text. The finished answer is still sent. */
  #end(turnId: string, chatId: string, failure: CallFailure): void {
    const { monotonic, log } = this.#deps;
    if (failure.kind === 'refused' && /message is not modified/i.test(failure.reason)) return;
    this.#over.set(turnId, true);
    if (failure.kind === 'refused' && failure.code === 429)
      this.#quietUntil.set(chatId, monotonic() + (failure.retryAfterMs ?? EDIT_INTERVAL_MS));
    log.debug({ turn: turnId, reason: failure.reason }, 'stopped showing a growing answer');
  }

  /**
   * Sends a finished part while no other operation on its turn runs. `send` receives the message
   * that has grown for it. A message part can be claimed again, and a message that already shows it
   * is then edited once more, to the same text.
   */
  async claim<T>(
    part: OutboundPart,
    signal: AbortSignal,
    send: (grown: FinalizedMessage | undefined) => Promise<T>,
  ): Promise<T> {
    const { turnId, index, route } = part;
    const isGroup = route.chatId.startsWith('-');
    if (turnId === null || index === null || !isGroup) return send(undefined);
    this.#over.set(turnId, true);
    if (index !== 0) return send(undefined);
    return this.#inLanes(turnId, async () => {
      await this.#load();
      const growing = await this.#found(turnId, route.chatId, signal);
      if (growing === undefined) return send(undefined);
      const result = await send(growing);
      const done = this.#messages.get(turnId);
      if (done !== undefined) done.doneAt = this.#deps.monotonic();
      return result;
    });
  }

  /**
   * Finds the message of a turn, and searches for it if it may have arrived. Throws a ChannelError.
   */
  async #found(
    turnId: string,
    chatId: string,
    signal: AbortSignal,
  ): Promise<FinalizedMessage | undefined> {
    const { api, moved } = this.#deps;
    const growing = this.#messages.get(turnId);
    // A message written before its group became a supergroup stays in the group.
    if (growing === undefined || growing.chatId !== moved.now(chatId)) return undefined;
    const { number, text } = growing;
    if (number !== null) return { number, text };
    const search = { chatId: growing.chatId, first: growing.after + 1, keyboard: {} };
    const isOther = (each: number) =>
      this.isGrowing(chatId, each) || this.#sent.has(`${growing.chatId} ${each}`);
    try {
      growing.number = (await findFirstBotMessage(api, { ...search, isOther }, signal)) ?? null;
    } catch (thrown) {
      throw toRetryableError(toCallFailure(thrown), `Telegram chat ${chatId}`, thrown);
    }
    if (growing.number === null) this.#messages.delete(turnId);
    await this.#save();
    return growing.number === null ? undefined : { number: growing.number };
  }

  /**
   * Whether an answer is growing or has grown in this message, which therefore cannot be another
   * part.
   */
  isGrowing(chatId: string, number: number): boolean {
    const now = this.#deps.moved.now(chatId);
    return this.#messages
      .values()
      .some((growing) => growing.chatId === now && growing.number === number);
  }

  /** Called when the growing message no longer exists, so the part will be sent as a new one. */
  async forget(turnId: string): Promise<void> {
    if (this.#messages.delete(turnId)) await this.#save();
  }

  /**
   * Deletes the unfinished text, even if an earlier process showed it, because no finished answer
   * follows.
   */
  async discard({ chatId }: ChatAddress, turnId: string): Promise<void> {
    const { api, log, stopping } = this.#deps;
    this.#over.set(turnId, true);
    await this.#inLanes(turnId, async () => {
      await this.#load();
      const grown = await this.#found(turnId, chatId, stopping);
      if (grown === undefined) return;
      try {
        const place = { chat_id: chatId, message_id: grown.number };
        await api.call('deleteMessage', place, stopping);
      } catch (thrown) {
        log.warn(
          { turn: turnId, reason: reasonOf(thrown) },
          'a growing answer could not be deleted',
        );
      }
      await this.forget(turnId);
    });
  }

  /** Resolves once the messages stored by earlier processes are loaded. */
  #load(): Promise<void> {
    this.#loaded ??= this.#read().catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  async #read(): Promise<void> {
    const { moved, values } = this.#deps;
    await moved.load();
    const stored = (await values.get(KIND, [ID])).get(ID);
    if (stored === undefined) return;
    for (const growing of z.array(Stored).parse(JSON.parse(stored)))
      this.#messages.set(growing.turnId, growing);
  }

  /** Writes are serialized, so that the newest state is written last. */
  #save(): Promise<void> {
    return this.#inLanes(KIND, async () => {
      this.#prune();
      const all = [...this.#messages.values()].map(({ text: _, doneAt: __, ...stored }) => stored);
      const value = all.length === 0 ? null : JSON.stringify(all);
      await this.#deps.values.set([{ kind: KIND, id: ID, value }]);
    });
  }

  #prune(): void {
    const now = this.#deps.monotonic();
    // `at` is compared with the wall clock, because an earlier process may have stored it.
    const before = this.#deps.clock() - KEPT_MS;
    let extra = this.#messages.size - MAX_KEPT;
    for (const { turnId, at, doneAt = now } of this.#messages.values()) {
      if (extra > 0 || now - doneAt > KEPT_DONE_MS || at < before) this.#messages.delete(turnId);
      extra -= 1;
    }
  }
}
