import { createHash } from 'node:crypto';
import type { ChatAddress, GrowingAnswer } from '@parley/channels';
import { type AdapterValues, type Logger, type OutboundPart, reasonOf } from '@parley/core';
import { z } from 'zod';
import type { DiscordApi } from './api.ts';
import type { StartTimer } from './connection.ts';
import { toCallFailure } from './failures.ts';
import { createContentBody, createOriginBody } from './format.ts';

/** The streamed message for a finished message part, or the nonce of a message that may exist. */
export interface StreamedMessage {
  readonly messageId?: string;
  /** The trimmed text; absent if it was written by an earlier process. */
  readonly text?: string;
  readonly nonce?: string;
}

interface StreamDeps {
  readonly api: Pick<DiscordApi, 'create' | 'change' | 'remove'>;
  readonly values: Pick<AdapterValues, 'get' | 'set'>;
  readonly linkPreviews: boolean;
  readonly log: Logger;
  readonly later: StartTimer;
}

/** A message that belongs to an unfinished answer. */
interface UnfinishedMessage {
  /** Undefined while it is unknown whether Discord received it. */
  messageId: string | undefined;
  /** The trimmed text; undefined if it was written by an earlier process. */
  text: string | undefined;
}

interface StreamedTurn {
  readonly turnId: string;
  channelId: string;
  readonly shown: UnfinishedMessage[];
  /** Positions whose messages have been deleted. */
  readonly gone: Set<number>;
  /**
   * Whether to stop showing unfinished text, because finished parts are arriving or Discord has
   * refused an update.
   */
  isFinal: boolean;
  /** Whether all parts have been sent or no more parts will follow. */
  isTidied: boolean;
  /** The task that was started last for this turn. */
  last: Promise<unknown>;
  loaded: boolean;
}

const KIND = 'streamed';
const Stored = z.array(z.string().nullable());
/** A shorter answer is sent as one message and never edited. The minimum length, in characters. */
const MIN_CHARACTERS = 80;
/**
 * Message flag for sending without a notification, and the text of a message that is created only
 * to be deleted.
 */
const [SILENT, PLACEHOLDER] = [1 << 12, '…'];
/**
 * How long a finished turn is remembered, in ms. If the confirmation of a message part was lost,
 * the part is sent again within this time and must find its message.
 */
const FORGET_MS = 600_000;
/**
 * The maximum number of turns in memory. If older turns are needed, they are read from the store
 * again.
 */
const MAX_TURNS = 500;

/**
 * Shows unfinished answers as messages and edits these as the answers grow. Message ids are stored
 * before and after each request, so that finished parts replace the messages even if the process
 * crashes between the two.
 */
export class AnswerStreamManager {
  readonly #deps: StreamDeps;
  readonly #turns = new Map<string, StreamedTurn>();
  /** Functions that cancel the removal of a turn's record, keyed by turn. */
  readonly #timers = new Map<string, () => void>();
  readonly #closing = new AbortController();

  constructor(deps: StreamDeps) {
    this.#deps = deps;
  }

  /** Shows the answer so far by sending new parts as messages and making at most one edit. */
  async update(address: ChatAddress, turnId: string, answer: GrowingAnswer): Promise<void> {
    const turn = this.#turn(turnId, address.threadId ?? address.chatId);
    try {
      await this.#exclusively(turn, () => this.#show(turn, address, answer));
    } catch (thrown) {
      // A retry every second would be refused again, and Discord counts refusals.
      if (toCallFailure(thrown).kind === 'refused') turn.isFinal = true;
      throw thrown;
    }
  }

  async #show(turn: StreamedTurn, address: ChatAddress, answer: GrowingAnswer): Promise<void> {
    if (this.#isOver(turn)) return;
    const texts = (await answer.show()).map(({ text }) => text);
    const [first = ''] = texts;
    if (turn.shown.length === 0 && first.length < MIN_CHARACTERS) return;
    let edits = 0;
    for (const [place, text] of texts.entries()) {
      if (this.#isOver(turn) || text.trim() === '') return;
      const shown = turn.shown[place];
      if (shown?.messageId === undefined) await this.#create(turn, place, text, address);
      else if (shown.text !== text.trim() && edits === 0) {
        edits += 1;
        await this.#edit(turn.channelId, shown, shown.messageId, text);
      }
    }
  }

  #isOver({ isFinal }: StreamedTurn): boolean {
    return isFinal || this.#closing.signal.aborted;
  }

  /**
   * Sends a finished message part while no other task for its turn is running; `send` receives the
   * message to replace. After the last part, all messages beyond it are deleted before the outbox
   * records the part as sent. A crash therefore does not leave messages from an earlier run of the
   * turn.
   */
  async claim<T>(part: OutboundPart, send: (streamed: StreamedMessage) => Promise<T>): Promise<T> {
    const { turnId, index, isLast, route } = part;
    if (turnId === null || index === null) return send({});
    const turn = this.#turn(turnId, route.threadId ?? route.chatId);
    turn.isFinal = true;
    return this.#exclusively(turn, async () => {
      const result = await send(toStreamedMessage(turnId, index, turn.shown[index]));
      if (isLast === true) await this.#tidy(turn, index + 1);
      return result;
    });
  }

  /** If no finished part follows, deletes everything that was shown, even by an earlier process. */
  async discard(address: ChatAddress, turnId: string): Promise<void> {
    const turn = this.#turn(turnId, address.threadId ?? address.chatId);
    turn.isFinal = true;
    await this.#exclusively(turn, () => this.#tidy(turn, 0));
  }

  /**
   * Stops showing unfinished answers, because a request delayed by a rate limit could arrive after
   * the finished answer.
   */
  close(): void {
    this.#closing.abort();
    for (const cancel of this.#timers.values()) cancel();
  }

  #turn(turnId: string, channelId: string): StreamedTurn {
    const known = this.#turns.get(turnId);
    if (known !== undefined) return known;
    if (this.#turns.size >= MAX_TURNS) this.#makeRoom();
    const turn: StreamedTurn = {
      turnId,
      channelId,
      shown: [],
      gone: new Set(),
      isFinal: false,
      isTidied: false,
      last: Promise.resolve(),
      loaded: false,
    };
    this.#turns.set(turnId, turn);
    return turn;
  }

  /**
   * Drops a turn whose parts have all been sent, or otherwise the oldest turn. The record stays in
   * the store until its timer fires. Without it, the next part would be sent in addition to the
   * message that already shows it.
   */
  #makeRoom(): void {
    const turns = [...this.#turns.values()];
    const dropped = turns.find(({ isTidied }) => isTidied) ?? turns[0];
    if (dropped !== undefined) this.#turns.delete(dropped.turnId);
  }

  /** Runs a task after all earlier tasks of the turn have succeeded or failed. */
  #exclusively<T>(turn: StreamedTurn, work: () => Promise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      await this.#load(turn);
      return work();
    };
    const result = turn.last.then(run, run);
    // The caller receives the failure; the next task starts anyway.
    turn.last = result.catch(() => undefined);
    return result;
  }

  async #load(turn: StreamedTurn): Promise<void> {
    if (turn.loaded) return;
    const text = (await this.#deps.values.get(KIND, [turn.turnId])).get(turn.turnId) ?? '[]';
    const ids = Stored.parse(JSON.parse(text));
    turn.shown.push(...ids.map((id) => ({ messageId: id ?? undefined, text: undefined })));
    turn.loaded = true;
  }

  async #create(
    turn: StreamedTurn,
    place: number,
    text: string,
    address: ChatAddress,
  ): Promise<void> {
    const shown: UnfinishedMessage = { messageId: undefined, text: undefined };
    turn.shown[place] = shown;
    await this.#save(turn);
    const body = createContentBody(text, {}, this.#deps.linkPreviews);
    const replyTo = place === 0 ? address.replyToMessageId : undefined;
    const origin = createOriginBody(deriveNonce(turn.turnId, place), replyTo);
    const { signal } = this.#closing;
    const sent = await this.#deps.api.create(turn.channelId, { ...body, ...origin }, { signal });
    shown.messageId = sent.id;
    // If the nonce is already known, Discord returns the message with its earlier text.
    shown.text = sent.content;
    await this.#save(turn);
  }

  async #edit(
    channelId: string,
    shown: UnfinishedMessage,
    messageId: string,
    text: string,
  ): Promise<void> {
    const body = createContentBody(text, {}, this.#deps.linkPreviews);
    await this.#deps.api.change(channelId, messageId, body, { signal: this.#closing.signal });
    shown.text = text.trim();
  }

  async #save({ turnId, shown }: StreamedTurn): Promise<void> {
    const value = JSON.stringify(shown.map(({ messageId }) => messageId ?? null));
    await this.#deps.values.set([{ kind: KIND, id: turnId, value }]);
  }

  /** Deletes the messages starting at a position, and then the record. */
  async #tidy(turn: StreamedTurn, from: number): Promise<void> {
    for (const [place, { messageId }] of turn.shown.entries()) {
      if (place < from || turn.gone.has(place)) continue;
      turn.gone.add(place);
      try {
        await this.#deps.api.remove(turn.channelId, messageId ?? (await this.#find(turn, place)));
      } catch (thrown) {
        const facts = { turn: turn.turnId, reason: reasonOf(thrown) };
        this.#deps.log.warn(facts, 'a streamed message could not be deleted');
      }
    }
    turn.isTidied = true;
    this.#timers.get(turn.turnId)?.();
    const cancel = this.#deps.later(() => void this.#forget(turn), FORGET_MS);
    this.#timers.set(turn.turnId, cancel);
  }

  /** Finds a message that may exist: Discord returns the message with this nonce or creates one. */
  async #find({ turnId, channelId }: StreamedTurn, place: number): Promise<string> {
    const body = {
      content: PLACEHOLDER,
      flags: SILENT,
      ...createOriginBody(deriveNonce(turnId, place), undefined),
    };
    return (await this.#deps.api.create(channelId, body)).id;
  }

  async #forget(turn: StreamedTurn): Promise<void> {
    const { turnId, shown } = turn;
    this.#timers.delete(turnId);
    if (this.#turns.get(turnId) === turn) this.#turns.delete(turnId);
    if (shown.length === 0) return;
    try {
      await this.#deps.values.set([{ kind: KIND, id: turnId, value: null }]);
    } catch (thrown) {
      const facts = { turn: turnId, reason: reasonOf(thrown) };
      this.#deps.log.warn(facts, 'the record of a streamed answer could not be removed');
    }
  }
}

/**
 * A message's nonce, which depends only on its position and turn. It has 22 characters; Discord
 * allows 25.
 */
export function deriveNonce(turnId: string, place: number): string {
  return createHash('sha256').update(`${turnId} ${place}`).digest('base64url').slice(0, 22);
}

function toStreamedMessage(
  turnId: string,
  place: number,
  shown: UnfinishedMessage | undefined,
): StreamedMessage {
  if (shown === undefined) return {};
  const { messageId, text } = shown;
  if (messageId === undefined) return { nonce: deriveNonce(turnId, place) };
  return { messageId, ...(text !== undefined && { text }) };
}
