import type { ChatAddress, GrowingAnswer, StreamPace } from '@parley/channels';
import {
  type AdapterValues,
  BoundedMap,
  ChannelError,
  type Clock,
  type Logger,
  type Monotonic,
  type OutboundPart,
  reasonOf,
} from '@parley/core';
import { z } from 'zod';
import type { TelegramApi } from './api.ts';
import { isAlone } from './ephemeral.ts';
import { type CallFailure, callFailureOf, repeatableErrorOf } from './failures.ts';
import { lookFor, numberSequence } from './find-sent.ts';
import { messageNumber, replyTo } from './format.ts';
import { createLanes } from './lanes.ts';
import type { MovedChats } from './moved-chats.ts';
import { placeFields } from './places.ts';
import { MAX_TEXT } from './settings.ts';
import type { WireMessage } from './wire.ts';

const Stored = z.object({
  turnId: z.string(),
  /** As Telegram calls it. */
  chatId: z.string(),
  /** No message of its row had a higher number when it was sent. */
  after: z.int(),
  /** Null while it is unknown whether Telegram has it. */
  number: z.int().nullable(),
  at: z.number(),
});

/** A message in which an answer grows, or has grown. */
interface Growing extends z.infer<typeof Stored> {
  number: number | null;
  /** Its text, in HTML; absent where an earlier process wrote it. */
  text?: string;
  /** When the finished answer took its place; absent: it has not, in this process. */
  doneAt?: number;
}

/** The message that becomes a part of the finished answer. */
export interface Grown {
  readonly number: number;
  readonly text?: string | undefined;
}

interface GrowingDeps {
  readonly api: Pick<TelegramApi, 'call' | 'send'>;
  readonly moved: MovedChats;
  readonly values: Pick<AdapterValues, 'get' | 'set'>;
  readonly settings: { readonly growInGroups: boolean; readonly linkPreviews: boolean };
  readonly log: Logger;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly stopping: AbortSignal;
  /** See `ChannelContext`. */
  readonly holdsAccount: () => boolean;
}

/** A shorter answer is sent as one message that was never edited. In characters, like `FULL`. */
const MIN_CHARACTERS = 80;
/** The first message is full then, and only the first one grows. */
const FULL = MAX_TEXT + 500;
const FIRST_AFTER_MS = 1_000;
const EDIT_INTERVAL_MS = 3_000;
/** The penalty for much editing grows, so a group in which Telegram has asked for silence has no more of it. In ms. */
const NO_MORE_MS = 10 * 60_000;
const SEND_TIMEOUT_MS = 15_000;
/** A part whose receipt was lost is sent again sooner than this, and must find its message. In ms. */
const [KEPT_DONE_MS, KEPT_MS] = [10 * 60_000, 24 * 60 * 60_000];
const MAX_KEPT = 200;
const REMEMBERED = 1_000;
const [KIND, ID] = ['growing', 'all'];

/**
 * Unfinished answers in groups, where Telegram shows no drafts: one message for each, which is edited and becomes
 * the first part of the finished answer. It notifies people once, when it appears. Telegram has no idempotency key,
 * so before it is sent the last number of the chat is stored: after a crash it is looked for behind that one.
 */
export class GrowingMessages {
  readonly #deps: GrowingDeps;
  /** By turn. */
  readonly #messages = new Map<string, Growing>();
  readonly #inLanes = createLanes();
  /** Turns of which nothing unfinished is shown any more. */
  readonly #over = new BoundedMap<string, true>(REMEMBERED);
  /** By row: the highest number that is known. */
  readonly #latest = new BoundedMap<string, number>(REMEMBERED);
  /** Chat and number of messages that the bot has sent otherwise. */
  readonly #sent = new BoundedMap<string, true>(REMEMBERED);
  /** By chat: until when Telegram wants no call there, in monotonic time. */
  readonly #quietUntil = new BoundedMap<string, number>(REMEMBERED);
  #loaded: Promise<void> | undefined;

  constructor(deps: GrowingDeps) {
    this.#deps = deps;
  }

  /** Learns the numbers of a group's messages. Channels are left out, so nothing grows before an audience. */
  seen({ chat, message_id }: Pick<WireMessage, 'chat' | 'message_id'>): void {
    // What one person alone sees has the number 0.
    if (chat.type !== 'channel' && message_id > 0)
      this.#note(numberSequence(String(chat.id)), message_id);
  }

  /** Learns of a message that the bot has sent. */
  sent(chatId: string, platformMessageId: string): void {
    const number = messageNumber(platformMessageId);
    if (number === undefined) return;
    const now = this.#deps.moved.now(chatId);
    this.#sent.set(`${now} ${number}`, true);
    if (this.#latest.has(numberSequence(now))) this.#note(numberSequence(now), number);
  }

  #note(row: string, number: number): void {
    this.#latest.set(row, Math.max(number, this.#latest.get(row) ?? 0));
  }

  /** See `StreamingCapability`. */
  pace(address: ChatAddress, length: number): StreamPace | null {
    const { chatId } = address;
    const { settings, moved } = this.#deps;
    // It would grow before everyone.
    if (isAlone(address)) return null;
    const isKnown = this.#latest.has(numberSequence(moved.now(chatId)));
    const mayGrow = settings.growInGroups && isKnown && !this.#isSpared(chatId);
    if (!mayGrow || length < MIN_CHARACTERS || length > FULL) return null;
    return { minIntervalMs: EDIT_INTERVAL_MS + length, firstAfterMs: FIRST_AFTER_MS };
  }

  /** Throws ChannelError while Telegram wants no call for this chat: sends and edits share its rate. */
  mustBeQuiet(chatId: string): void {
    const retryAfterMs = (this.#quietUntil.get(chatId) ?? 0) - this.#deps.monotonic();
    if (retryAfterMs <= 0) return;
    const message = `Telegram chat ${chatId}: Telegram has asked to wait; it is sent after that.`;
    throw new ChannelError({ kind: 'rate-limited', retryAfterMs, scope: 'chat' }, message);
  }

  /** Shows the beginning of an answer so far, in one call. */
  async update(address: ChatAddress, turnId: string, answer: GrowingAnswer): Promise<void> {
    const mayShow = () => !this.#over.has(turnId) && !this.#isSpared(address.chatId);
    if (!mayShow()) return;
    await this.#inLanes(turnId, async () => {
      await this.#load();
      const text = (await answer.show())[0]?.text.trim() ?? '';
      // Another gateway's answer may be there already.
      if (!mayShow() || text === '' || !this.#deps.holdsAccount()) return;
      const growing = this.#messages.get(turnId);
      if (growing === undefined) await this.#begin(address, turnId, text);
      else if (growing.number !== null && growing.text !== text)
        await this.#edit(growing, growing.number, text, address.chatId);
    });
  }

  /** Whether Telegram has lately asked for silence in this chat. */
  #isSpared(chatId: string): boolean {
    const until = this.#quietUntil.get(chatId);
    return until !== undefined && this.#deps.monotonic() < until + NO_MORE_MS;
  }

  async #begin(address: ChatAddress, turnId: string, text: string): Promise<void> {
    const { api, moved, clock } = this.#deps;
    const chatId = moved.now(address.chatId);
    const after = this.#latest.get(numberSequence(chatId));
    if (after === undefined) return;
    const growing: Growing = { turnId, chatId, after, number: null, at: clock() };
    this.#messages.set(turnId, growing);
    await this.#save().catch((error: unknown) => {
      this.#messages.delete(turnId);
      throw error;
    });
    const { replyToMessageId: id } = address;
    const quoted = id !== undefined && moved.isThere(address.chatId, id) ? id : undefined;
    const place = { ...placeFields(address.threadId), ...replyTo(quoted) };
    try {
      const payload = { chat_id: chatId, ...place, ...this.#content(text) };
      growing.number = Number(await api.send('sendMessage', payload, this.#limit()));
      growing.text = text;
      this.#note(numberSequence(chatId), growing.number);
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      // What may have arrived is looked for when the answer is finished.
      if (failure.kind !== 'unknown') this.#messages.delete(turnId);
      this.#end(turnId, address.chatId, failure);
    }
    await this.#save();
  }

  async #edit(growing: Growing, number: number, text: string, chatId: string): Promise<void> {
    const { api, stopping, log } = this.#deps;
    const payload = { chat_id: growing.chatId, message_id: number, ...this.#content(text) };
    try {
      await api.call('editMessageText', payload, stopping);
      growing.text = text;
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      if (failure.kind === 'refused') return this.#end(growing.turnId, chatId, failure);
      // It may show either text; the next edit shows a later one.
      delete growing.text;
      log.debug({ turn: growing.turnId, reason: failure.reason }, 'edit may be lost');
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

  /** Shows no more of a turn; the finished answer follows all the same. */
  #end(turnId: string, chatId: string, failure: CallFailure): void {
    const { monotonic, log } = this.#deps;
    if (failure.kind === 'refused' && /message is not modified/i.test(failure.reason)) return;
    this.#over.set(turnId, true);
    if (failure.kind === 'refused' && failure.code === 429)
      this.#quietUntil.set(chatId, monotonic() + (failure.retryAfterMs ?? EDIT_INTERVAL_MS));
    log.debug({ turn: turnId, reason: failure.reason }, 'a growing answer is not shown further');
  }

  /**
   * Sends a finished part while nothing else happens to its turn; `send` gets the message that has grown in its
   * place. It can be claimed again: what was sent before then is changed to the same once more.
   */
  async claim<T>(
    part: OutboundPart,
    signal: AbortSignal,
    send: (grown: Grown | undefined) => Promise<T>,
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

  /** The message of a turn; one that may have arrived is looked for. Throws ChannelError. */
  async #found(turnId: string, chatId: string, signal: AbortSignal): Promise<Grown | undefined> {
    const { api, moved } = this.#deps;
    const growing = this.#messages.get(turnId);
    // What was written before its group became a supergroup stays there.
    if (growing === undefined || growing.chatId !== moved.now(chatId)) return undefined;
    const { number, text } = growing;
    if (number !== null) return { number, text };
    const search = { chatId: growing.chatId, first: growing.after + 1, keyboard: {} };
    const isOther = (each: number) =>
      this.isGrowing(chatId, each) || this.#sent.has(`${growing.chatId} ${each}`);
    try {
      growing.number = (await lookFor(api, { ...search, isOther }, signal)) ?? null;
    } catch (thrown) {
      throw repeatableErrorOf(callFailureOf(thrown), `Telegram chat ${chatId}`, thrown);
    }
    if (growing.number === null) this.#messages.delete(turnId);
    await this.#save();
    return growing.number === null ? undefined : { number: growing.number };
  }

  /** Whether an answer grows, or has grown, in a message: no other part was sent as it. */
  isGrowing(chatId: string, number: number): boolean {
    const now = this.#deps.moved.now(chatId);
    return this.#messages
      .values()
      .some((growing) => growing.chatId === now && growing.number === number);
  }

  /** Its message is not there any more: the part goes out as a new one. */
  async forget(turnId: string): Promise<void> {
    if (this.#messages.delete(turnId)) await this.#save();
  }

  /** No finished answer follows: takes away what was shown, also by an earlier process. */
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
        log.warn({ turn: turnId, reason: reasonOf(thrown) }, 'a growing answer stays in its chat');
      }
      await this.forget(turnId);
    });
  }

  /** Resolves once what earlier processes have shown is known. */
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

  /** One after the other, so that the newest state is written last. */
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
    // `at` was stored, maybe by an earlier process.
    const before = this.#deps.clock() - KEPT_MS;
    let extra = this.#messages.size - MAX_KEPT;
    for (const { turnId, at, doneAt = now } of this.#messages.values()) {
      if (extra > 0 || now - doneAt > KEPT_DONE_MS || at < before) this.#messages.delete(turnId);
      extra -= 1;
    }
  }
}
