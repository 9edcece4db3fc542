import { createHash } from 'node:crypto';
import type { ChatAddress, GrowingAnswer } from '@parley/channels';
import { type AdapterValues, type Logger, type OutboundPart, reasonOf } from '@parley/contracts';
import { z } from 'zod';
import { callFailureOf } from './call-failure.ts';
import type { DiscordApi } from './discord-api.ts';
import { contentBody, originBody } from './message-body.ts';

/** What a finished part finds at its place: a message, or the nonce of one that may be there. */
export interface Streamed {
  readonly messageId?: string;
  readonly nonce?: string;
}

/** What showing growing answers needs. */
export interface StreamDeps {
  readonly api: Pick<DiscordApi, 'create' | 'change' | 'remove'>;
  readonly values: Pick<AdapterValues, 'get' | 'set'>;
  readonly linkPreviews: boolean;
  readonly log: Logger;
  /** Calls back once, after `ms`; gives back how to call it off. */
  readonly later: (work: () => void, ms: number) => () => void;
}

/** A message at a place of an answer. */
interface Shown {
  /** Undefined while it is not known whether Discord has it. */
  messageId: string | undefined;
  /** As it stands, without space around it; undefined when an earlier process wrote it. */
  text: string | undefined;
}

interface Turn {
  readonly turnId: string;
  channelId: string;
  readonly shown: Shown[];
  /** Places whose messages were taken away. */
  readonly gone: Set<number>;
  /** Finished parts come, or Discord refuses: nothing unfinished is shown any more. */
  isFinal: boolean;
  /** All parts are sent, or none will come. */
  isTidied: boolean;
  /** The work on this turn that was begun last. */
  last: Promise<unknown>;
  loaded: boolean;
}

const KIND = 'streamed';
const Stored = z.array(z.string().nullable());
/** Less is not worth showing early: a short answer comes as one message that was never edited. */
const LEAST_CHARACTERS = 80;
/** `flags`: no notification; what stands for a message that is only made to be taken away. */
const [SILENT, PLACEHOLDER] = [1 << 12, '…'];
/** A part whose receipt was lost is sent again sooner than this, and has to find its message. In ms. */
const FORGET_MS = 600_000;
/** Turns in memory. What is dropped for this bound is read from the store again when it is needed. */
const MOST_TURNS = 500;

/**
 * Unfinished answers as messages that are edited. Which message stands at which place is stored before
 * and after Discord is told, so that finished parts take their places, also after a crash in between.
 */
export class Streams {
  readonly #deps: StreamDeps;
  readonly #turns = new Map<string, Turn>();
  /** By turn: calls off that its record is removed. */
  readonly #timers = new Map<string, () => void>();

  constructor(deps: StreamDeps) {
    this.#deps = deps;
  }

  /** Shows what an answer is so far: new parts as messages, and at most one edit. */
  async update(address: ChatAddress, turnId: string, answer: GrowingAnswer): Promise<void> {
    const turn = this.#turn(turnId, address.threadId ?? address.chatId);
    try {
      await this.#alone(turn, () => this.#show(turn, address, answer));
    } catch (thrown) {
      // Asking again every second would only be refused again, and Discord counts refusals.
      if (callFailureOf(thrown).kind === 'refused') turn.isFinal = true;
      throw thrown;
    }
  }

  async #show(turn: Turn, address: ChatAddress, answer: GrowingAnswer): Promise<void> {
    if (turn.isFinal) return;
    const { settled, open } = answer.show();
    const texts = [...settled, ...open].map(({ text }) => text);
    const [first = ''] = texts;
    if (turn.shown.length === 0 && first.length < LEAST_CHARACTERS) return;
    let edits = 0;
    for (const [place, text] of texts.entries()) {
      if (turn.isFinal || text.trim() === '') return;
      const shown = turn.shown[place];
      if (shown?.messageId === undefined) await this.#begin(turn, place, text, address);
      else if (shown.text !== text.trim() && edits === 0) {
        edits += 1;
        await this.#edit(turn.channelId, shown, shown.messageId, text);
      }
    }
  }

  /**
   * Sends a finished part while nothing else happens to its turn; `send` learns what is at its place.
   * With the last one goes what was shown beyond it: before the outbox knows that it is sent, so that
   * no crash leaves what an earlier run of the turn showed.
   */
  async claim<T>(part: OutboundPart, send: (streamed: Streamed) => Promise<T>): Promise<T> {
    const { turnId, index, isLast, route } = part;
    if (turnId === null || index === null) return send({});
    const turn = this.#turn(turnId, route.threadId ?? route.chatId);
    turn.isFinal = true;
    return this.#alone(turn, async () => {
      const result = await send(streamedOf(turnId, index, turn.shown[index]));
      if (isLast === true) await this.#tidy(turn, index + 1);
      return result;
    });
  }

  /** No finished part comes: takes away all that was shown, also by an earlier process. */
  async discard(address: ChatAddress, turnId: string): Promise<void> {
    const turn = this.#turn(turnId, address.threadId ?? address.chatId);
    turn.isFinal = true;
    await this.#alone(turn, () => this.#tidy(turn, 0));
  }

  /** Calls off what was to be forgotten later. */
  close(): void {
    for (const callOff of this.#timers.values()) callOff();
  }

  #turn(turnId: string, channelId: string): Turn {
    const known = this.#turns.get(turnId);
    if (known !== undefined) return known;
    if (this.#turns.size >= MOST_TURNS) this.#makeRoom();
    const turn: Turn = {
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
   * Drops a turn whose parts are all sent, else the oldest. The record stays in the store until its timer
   * ends: without it the next part would be sent beside the message that shows it already.
   */
  #makeRoom(): void {
    const turns = [...this.#turns.values()];
    const dropped = turns.find(({ isTidied }) => isTidied) ?? turns[0];
    if (dropped !== undefined) this.#turns.delete(dropped.turnId);
  }

  /** Runs work after all earlier work on the turn, whatever became of that. */
  #alone<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      await this.#load(turn);
      return work();
    };
    const result = turn.last.then(run, run);
    // Who asked for the work hears of its failure; the next in line need not.
    turn.last = result.catch(() => undefined);
    return result;
  }

  async #load(turn: Turn): Promise<void> {
    if (turn.loaded) return;
    const text = (await this.#deps.values.get(KIND, [turn.turnId])).get(turn.turnId) ?? '[]';
    const ids = Stored.parse(JSON.parse(text));
    turn.shown.push(...ids.map((id) => ({ messageId: id ?? undefined, text: undefined })));
    turn.loaded = true;
  }

  async #begin(turn: Turn, place: number, text: string, address: ChatAddress): Promise<void> {
    const shown: Shown = { messageId: undefined, text: undefined };
    turn.shown[place] = shown;
    await this.#save(turn);
    const body = contentBody(text, {}, this.#deps.linkPreviews);
    const replyTo = place === 0 ? address.replyToMessageId : undefined;
    const origin = originBody(nonceOf(turn.turnId, place), replyTo);
    const sent = await this.#deps.api.create(turn.channelId, { ...body, ...origin });
    shown.messageId = sent.id;
    // With a nonce that Discord knows it gives back an earlier text.
    shown.text = sent.content;
    await this.#save(turn);
  }

  async #edit(channelId: string, shown: Shown, messageId: string, text: string): Promise<void> {
    await this.#deps.api.change(
      channelId,
      messageId,
      contentBody(text, {}, this.#deps.linkPreviews),
    );
    shown.text = text.trim();
  }

  async #save({ turnId, shown }: Turn): Promise<void> {
    const value = JSON.stringify(shown.map(({ messageId }) => messageId ?? null));
    await this.#deps.values.set([{ kind: KIND, id: turnId, value }]);
  }

  /** Takes away what was shown from a place on, and later the record. */
  async #tidy(turn: Turn, from: number): Promise<void> {
    for (const [place, { messageId }] of turn.shown.entries()) {
      if (place < from || turn.gone.has(place)) continue;
      turn.gone.add(place);
      try {
        await this.#deps.api.remove(turn.channelId, messageId ?? (await this.#find(turn, place)));
      } catch (thrown) {
        this.#deps.log.warn({ turn: turn.turnId, reason: reasonOf(thrown) }, 'draft not removed');
      }
    }
    turn.isTidied = true;
    this.#timers.get(turn.turnId)?.();
    const callOff = this.#deps.later(() => void this.#forget(turn), FORGET_MS);
    this.#timers.set(turn.turnId, callOff);
  }

  /** A message that may be there: Discord names it for its nonce, or makes one. */
  async #find({ turnId, channelId }: Turn, place: number): Promise<string> {
    const body = {
      content: PLACEHOLDER,
      flags: SILENT,
      ...originBody(nonceOf(turnId, place), undefined),
    };
    return (await this.#deps.api.create(channelId, body)).id;
  }

  async #forget(turn: Turn): Promise<void> {
    const { turnId, shown } = turn;
    this.#timers.delete(turnId);
    if (this.#turns.get(turnId) === turn) this.#turns.delete(turnId);
    if (shown.length === 0) return;
    try {
      await this.#deps.values.set([{ kind: KIND, id: turnId, value: null }]);
    } catch (thrown) {
      this.#deps.log.warn({ turn: turnId, reason: reasonOf(thrown) }, 'draft not forgotten');
    }
  }
}

/** The same for the same place of the same turn; 22 of at most 25 characters. */
export function nonceOf(turnId: string, place: number): string {
  return createHash('sha256').update(`${turnId} ${place}`).digest('base64url').slice(0, 22);
}

function streamedOf(turnId: string, place: number, shown: Shown | undefined): Streamed {
  if (shown === undefined) return {};
  const { messageId } = shown;
  return messageId === undefined ? { nonce: nonceOf(turnId, place) } : { messageId };
}
