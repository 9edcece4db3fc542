import type { Delivery, DeliveryResult } from './delivery.ts';
import type { FaultInjector } from './faults.ts';
import type { SocketMode } from './socket-mode.ts';
import type { Transcript } from './transcript.ts';
import { callWebhook, type SigningSecret } from './webhook.ts';

export interface RetrySchedule {
  /** The wait before each further attempt, in ms. */
  readonly delaysMs: readonly number[];
  /** The acknowledgement timeout of the servers, in ms. */
  readonly answerWithinMs: number;
}

/**
 * The documented schedule: retries immediately, after one minute and after five minutes, with a
 * timeout of three seconds for each response.
 */
export const REAL_RETRIES: RetrySchedule = {
  delaysMs: [0, 60_000, 300_000],
  answerWithinMs: 3_000,
};

/** The time that a swapped event waits for the next event, in ms. */
const SWAP_WITHIN_MS = 3_000;

/**
 * Delivers events and interactions to the bot's request URL, or through Socket Mode when no URL is
 * set.
 */
export class Dispatcher {
  readonly #signing: SigningSecret;
  readonly #socket: SocketMode;
  readonly #faults: FaultInjector;
  readonly #transcript: Transcript;
  readonly #retries: RetrySchedule;
  readonly #timers = new Set<NodeJS.Timeout>();
  #requestUrl: string | undefined;
  #swapped: Delivery | undefined;

  constructor(
    parts: {
      readonly signing: SigningSecret;
      readonly socket: SocketMode;
      readonly faults: FaultInjector;
    },
    transcript: Transcript,
    retries: RetrySchedule,
  ) {
    this.#signing = parts.signing;
    this.#socket = parts.socket;
    this.#faults = parts.faults;
    this.#transcript = transcript;
    this.#retries = retries;
  }

  set requestUrl(url: string | undefined) {
    this.#requestUrl = url;
  }

  /** Delivers an event and retries until it is acknowledged or no retries are left. */
  deliver(delivery: Delivery): void {
    if (delivery.isOwn === true) {
      void this.#tryEvent(delivery, 0, '');
      return;
    }
    const overtaken = this.#swapped;
    this.#swapped = undefined;
    const late = this.#faults.takeForEvent('late');
    if (late !== undefined) this.#later(late.ms, () => void this.#start(delivery));
    else if (overtaken === undefined && this.#faults.takeForEvent('swap')) this.#hold(delivery);
    else {
      // Events sent over two connections would race each other, so the second event waits for the
      // first.
      const isDelivered = this.#start(delivery);
      if (overtaken !== undefined) void isDelivered.then(() => this.#start(overtaken));
    }
  }

  /** Delivers an interaction or a command without retries. */
  async deliverOnce(delivery: Delivery): Promise<DeliveryResult> {
    return this.#attempt(delivery, 0, '');
  }

  /** Cancels all pending deliveries. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #hold(delivery: Delivery): void {
    this.#swapped = delivery;
    this.#later(SWAP_WITHIN_MS, () => {
      if (this.#swapped !== delivery) return;
      this.#swapped = undefined;
      void this.#start(delivery);
    });
  }

  /** The promise resolves after the first attempt. */
  #start(delivery: Delivery): Promise<void> {
    const losesAnswer = this.#faults.takeForEvent('lost-acknowledgement') !== undefined;
    const first = this.#tryEvent(delivery, 0, '', losesAnswer);
    if (this.#faults.takeForEvent('duplicate')) void this.#tryEvent(delivery, 0, '');
    return first;
  }

  async #tryEvent(
    delivery: Delivery,
    attempt: number,
    reason: string,
    losesAnswer = false,
  ): Promise<void> {
    const result = await this.#attempt(delivery, attempt, reason);
    const isLost = result.isAccepted && losesAnswer;
    if ((result.isAccepted && !isLost) || (!result.isAccepted && result.isFinal === true)) return;
    const delay = this.#retries.delaysMs[attempt];
    if (delay === undefined) return;
    const why = result.isAccepted ? 'http_timeout' : result.reason;
    this.#later(delay, () => void this.#tryEvent(delivery, attempt + 1, why));
  }

  async #attempt(delivery: Delivery, attempt: number, reason: string): Promise<DeliveryResult> {
    const url = this.#requestUrl;
    const transport = url === undefined ? 'socket' : 'webhook';
    const { what, payload } = delivery;
    const settle = this.#transcript.recordDelivery({ transport, what, attempt, payload });
    const isLost =
      delivery.isOwn !== true && this.#faults.takeForEvent('undelivered') !== undefined;
    const retry = { attempt, reason };
    const within = this.#retries.answerWithinMs;
    const result: DeliveryResult = isLost
      ? { isAccepted: false, reason: 'connection_failed' }
      : url === undefined
        ? await this.#socket.deliver(delivery, retry, within)
        : await callWebhook({ url, delivery, retry, signing: this.#signing, withinMs: within });
    settle(result.isAccepted ? 'acknowledged' : result.reason);
    return result;
  }

  #later(ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, ms);
    this.#timers.add(timer);
  }
}
