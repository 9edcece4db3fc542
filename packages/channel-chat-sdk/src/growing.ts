import type {
  ChannelContext,
  ChatAddress,
  GrowingAnswer,
  StreamingCapability,
  StreamPace,
} from '@parley/channels';
import { BoundedMap, createLanes, type OutboundPart, type Receipt, reasonOf } from '@parley/core';
import type { Adapter, Message } from 'chat';
import { z } from 'zod';
import { toCallFailure, toRepeatableError, withAbortSignal } from './failures.ts';
import { toComparableText } from './history.ts';
import type { LocationConverter } from './places.ts';
import { toPostable, toPostableText } from './postable.ts';
import type { NamedTraits } from './traits.ts';

const Stored = z.object({
  turnId: z.string(),
  chatId: z.string(),
  threadId: z.string().optional(),
  /** Null as long as it is unknown whether the platform received the message. */
  messageId: z.string().nullable(),
  /**
   * The beginning of the text with which the message was first posted, used to find the message.
   */
  begins: z.string(),
  at: z.number(),
});

/** A message that shows an unfinished answer. */
interface GrowingMessage extends z.infer<typeof Stored> {
  messageId: string | null;
  /** Absent if an earlier process wrote the message. */
  text?: string;
}

interface GrowingDeps
  extends Pick<ChannelContext<unknown>, 'values' | 'log' | 'clock' | 'monotonic' | 'holdsAccount'> {
  readonly adapter: Adapter;
  readonly places: LocationConverter;
  readonly traits: NamedTraits;
  readonly stopping: AbortSignal;
  readonly ownMessages: (address: ChatAddress, signal: AbortSignal) => Promise<readonly Message[]>;
}

/** Shorter answers are sent as one message and never edited. The limit is in characters. */
const MIN_CHARACTERS = 80;
const FIRST_AFTER_MS = 1_000;
const TIMEOUT_MS = 15_000;
/** How long (ms) a chat that exceeded its rate limit does not show unfinished answers. */
const SPARED_MS = 60_000;
/** A message part whose confirmation was lost is sent again within this time (ms). */
const KEPT_MS = 24 * 60 * 60_000;
const [MAX_KEPT, REMEMBERED] = [100, 1_000];
const [KIND, ID] = ['growing', 'all'];
/** The number of letters that identify a text. */
const BEGINS = 40;
/** The maximum clock difference to a platform, in ms. */
const SKEW_MS = 60_000;

/**
 * Shows unfinished answers in a chat. Each answer starts as a single message, which is edited as
 * the answer grows and becomes the first part of the finished answer. The message is recorded
 * before it is posted, so that another process can find it.
 */
export class GrowingAnswerManager implements StreamingCapability {
  readonly minIntervalMs: number;
  readonly firstAfterMs = FIRST_AFTER_MS;
  readonly #deps: GrowingDeps;
  readonly #messages = new Map<string, GrowingMessage>();
  readonly #inLanes = createLanes();
  /** Turns that must no longer show unfinished text. */
  readonly #over = new BoundedMap<string, true>(REMEMBERED);
  readonly #sparedUntil = new BoundedMap<string, number>(REMEMBERED);
  #loaded: Promise<void> | undefined;

  constructor(deps: GrowingDeps, growMs: number) {
    this.#deps = deps;
    this.minIntervalMs = growMs;
  }

  pace({ chatId }: ChatAddress, length: number): StreamPace | null {
    const isSpared = (this.#sparedUntil.get(chatId) ?? 0) > this.#deps.monotonic();
    const { maxLength } = this.#deps.traits.target;
    if (isSpared || length < MIN_CHARACTERS || length > maxLength) return null;
    return { minIntervalMs: this.minIntervalMs, firstAfterMs: FIRST_AFTER_MS };
  }

  /** Posts the unfinished answer, or edits the posted message. */
  async update(address: ChatAddress, turnId: string, answer: GrowingAnswer): Promise<void> {
    const { holdsAccount } = this.#deps;
    if (this.#over.has(turnId)) return;
    await this.#inLanes(turnId, async () => {
      await this.#load();
      const text = (await answer.show())[0]?.text.trim() ?? '';
      // Another gateway may already have sent the answer.
      if (this.#over.has(turnId) || text === '' || !holdsAccount()) return;
      const growing = this.#messages.get(turnId);
      if (growing === undefined) await this.#begin(address, turnId, text);
      else if (growing.text !== text) await this.#grow(growing, text);
    });
  }

  async end(_address: ChatAddress, turnId: string, comes: 'answer' | 'later' | 'nothing') {
    if (comes === 'nothing') await this.#discard(turnId);
  }

  /**
   * Turns the message that shows an unfinished answer into the finished message part. Returns
   * undefined if there is no such message, or if it was deleted because a file replaces it. No
   * other operation on the turn runs at the same time.
   */
  async complete(part: OutboundPart, signal: AbortSignal): Promise<Receipt | undefined> {
    const { turnId, index, file } = part;
    if (turnId === null) return undefined;
    this.#over.set(turnId, true);
    if (index !== 0) return undefined;
    return this.#inLanes(turnId, async () => {
      await this.#load();
      const growing = this.#messages.get(turnId);
      const messageId = growing && (await this.#found(growing));
      if (growing === undefined || messageId === undefined) return undefined;
      if (file === undefined) return this.#replace(growing, messageId, part, signal);
      await this.#remove(growing, messageId);
      return undefined;
    });
  }

  async #begin({ chatId, threadId }: ChatAddress, turnId: string, text: string): Promise<void> {
    const { adapter, places, clock } = this.#deps;
    const begins = toComparableText(text).slice(0, BEGINS);
    const place = { chatId, ...(threadId !== undefined && { threadId }) };
    const growing: GrowingMessage = { turnId, ...place, messageId: null, begins, at: clock() };
    this.#messages.set(turnId, growing);
    await this.#save();
    try {
      const posting = adapter.postMessage(await places.threadIdOf(place), toPostableText({ text }));
      growing.messageId = (await withAbortSignal(posting, this.#limit())).id;
      growing.text = text;
    } catch (thrown) {
      this.#failed(growing, thrown);
      // If the message may have arrived, the search for it takes place when the answer is finished.
      const { kind } = toCallFailure(thrown).failure;
      if (kind !== 'unknown-outcome') this.#messages.delete(turnId);
    }
    await this.#save();
  }

  async #grow(growing: GrowingMessage, text: string): Promise<void> {
    const { adapter, places } = this.#deps;
    const { messageId } = growing;
    if (messageId === null) return;
    try {
      const threadId = await places.threadIdOf(growing);
      await withAbortSignal(
        adapter.editMessage(threadId, messageId, toPostableText({ text })),
        this.#limit(),
      );
      growing.text = text;
    } catch (thrown) {
      delete growing.text;
      this.#failed(growing, thrown);
    }
  }

  /**
   * Edits the message so that it shows the finished part. An edit is safe to repeat, so `onStart`
   * is not called for it.
   */
  async #replace(
    growing: GrowingMessage,
    messageId: string,
    part: OutboundPart,
    signal: AbortSignal,
  ): Promise<Receipt | undefined> {
    const { adapter, places, traits } = this.#deps;
    const receipt = { platformMessageId: messageId };
    if (growing.text === part.body.text && part.buttons === undefined) return receipt;
    try {
      const message = toPostable(part, traits);
      const threadId = await places.threadIdOf(growing);
      await withAbortSignal(adapter.editMessage(threadId, messageId, message), signal);
      return receipt;
    } catch (thrown) {
      if (toCallFailure(thrown).failure.kind !== 'gone') {
        throw toRepeatableError(thrown, `${traits.platform} chat ${growing.chatId}`);
      }
      // A person has deleted the message, so the part is sent as a new message.
      this.#messages.delete(growing.turnId);
      await this.#save();
      return undefined;
    }
  }

  async #discard(turnId: string): Promise<void> {
    this.#over.set(turnId, true);
    await this.#inLanes(turnId, async () => {
      await this.#load();
      const growing = this.#messages.get(turnId);
      const messageId = growing && (await this.#found(growing));
      if (growing !== undefined && messageId !== undefined) await this.#remove(growing, messageId);
    });
  }

  async #remove(growing: GrowingMessage, messageId: string): Promise<void> {
    const { adapter, places, log } = this.#deps;
    try {
      const threadId = await places.threadIdOf(growing);
      await withAbortSignal(adapter.deleteMessage(threadId, messageId), this.#limit());
    } catch (thrown) {
      log.warn({ reason: reasonOf(thrown) }, 'an unfinished answer could not be deleted');
    }
    this.#messages.delete(growing.turnId);
    await this.#save();
  }

  /** The id of the message; if the message may have arrived, the history is searched for it. */
  async #found(growing: GrowingMessage): Promise<string | undefined> {
    const { messageId, at, begins, turnId } = growing;
    if (messageId !== null) return messageId;
    const own = await this.#deps.ownMessages(growing, this.#limit());
    const found = own.find(
      ({ text, metadata }) =>
        metadata.dateSent.getTime() >= at - SKEW_MS && toComparableText(text).startsWith(begins),
    );
    growing.messageId = found?.id ?? null;
    if (found === undefined) this.#messages.delete(turnId);
    await this.#save();
    return found?.id;
  }

  #failed({ turnId, chatId }: GrowingMessage, thrown: unknown): void {
    const { monotonic, log } = this.#deps;
    const { failure, reason } = toCallFailure(thrown);
    this.#over.set(turnId, true);
    if (failure.kind === 'rate-limited') {
      this.#sparedUntil.set(chatId, monotonic() + Math.max(SPARED_MS, failure.retryAfterMs));
    }
    log.debug({ turn: turnId, reason }, 'stopped showing an unfinished answer');
  }

  #limit(): AbortSignal {
    return AbortSignal.any([this.#deps.stopping, AbortSignal.timeout(TIMEOUT_MS)]);
  }

  /** Loads the unfinished answers of earlier processes. */
  #load(): Promise<void> {
    this.#loaded ??= this.#read().catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  async #read(): Promise<void> {
    const text = (await this.#deps.values.get(KIND, [ID])).get(ID);
    if (text === undefined) return;
    for (const growing of z.array(Stored).parse(JSON.parse(text))) {
      const { threadId, ...rest } = growing;
      this.#messages.set(growing.turnId, { ...rest, ...(threadId !== undefined && { threadId }) });
    }
  }

  /** Writes are serialized, so that the last write contains the newest state. */
  #save(): Promise<void> {
    return this.#inLanes(KIND, async () => {
      const before = this.#deps.clock() - KEPT_MS;
      let extra = this.#messages.size - MAX_KEPT;
      for (const { turnId, at } of this.#messages.values()) {
        if (extra > 0 || at < before) this.#messages.delete(turnId);
        extra -= 1;
      }
      const all = [...this.#messages.values()].map(({ text: _, ...stored }) => stored);
      const value = all.length === 0 ? null : JSON.stringify(all);
      await this.#deps.values.set([{ kind: KIND, id: ID, value }]);
    });
  }
}
