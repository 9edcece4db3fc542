import { setTimeout as sleep } from 'node:timers/promises';

/** One webhook call as it leaves the platform. */
export interface Envelope {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An event on its way to the webhook, with the result of each attempt: a status, or an error. */
export interface Delivery {
  readonly id: string;
  readonly kind: string;
  readonly attempts: (number | 'lost')[];
  state: 'pending' | 'delivered' | 'failed';
}

interface Policy {
  /** Signs the event; called again for each attempt, because some signatures contain the time. */
  readonly seal: (event: unknown, delivery: Delivery) => Envelope;
  /** The pauses before further attempts, in ms; none when the platform never tries again. */
  readonly retryAfterMs: readonly number[];
  /** The platform gives up waiting for an answer after this time. */
  readonly timeoutMs: number;
  readonly changed: () => void;
}

interface Sending {
  readonly delivery: Delivery;
  readonly event: unknown;
}

/**
 * Sends events to the bot's webhook, one after another, as long as the platform's own policy says;
 * repeats, delays, swaps and loses them on demand.
 */
export class Deliveries {
  readonly all: Delivery[] = [];
  readonly #policy: Policy;
  readonly #events = new Map<string, unknown>();
  readonly #end = new AbortController();
  #target: string | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #wish: 'repeat' | 'swap' | 'lose' | 'forget' | { readonly delayMs: number } | undefined;
  #swapped: Sending | undefined;

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /** Sets the address of the webhook; undefined while the platform cannot reach it. */
  sendTo(target: string | undefined): void {
    this.#target = target;
  }

  /**
   * Queues an event; resolves with its delivery after the first attempt, or at once when the event
   * is held back.
   */
  async send(kind: string, event: unknown): Promise<Delivery> {
    const delivery: Delivery = { id: crypto.randomUUID(), kind, attempts: [], state: 'pending' };
    this.all.push(delivery);
    this.#events.set(delivery.id, event);
    const wish = this.#wish;
    this.#wish = undefined;
    const sending = { delivery, event };
    if (wish === 'swap') {
      this.#swapped = sending;
      return delivery;
    }
    if (typeof wish === 'object') {
      void sleep(wish.delayMs, undefined, { signal: this.#end.signal })
        .then(() => this.#queue(sending))
        .catch(() => {});
      return delivery;
    }
    await this.#queue(sending, wish);
    if (wish === 'repeat') await this.#queue(sending);
    const swapped = this.#swapped;
    this.#swapped = undefined;
    if (swapped !== undefined) await this.#queue(swapped);
    return delivery;
  }

  /** The next event is delivered twice. */
  repeatNext(): void {
    this.#wish = 'repeat';
  }

  /** The next event is delivered after the one that follows it. */
  swapNext(): void {
    this.#wish = 'swap';
  }

  /** The first attempt to deliver the next event does not reach the bot. */
  loseNext(): void {
    this.#wish = 'lose';
  }

  /** The bot receives the next event, but the platform does not receive its answer. */
  forgetAnswerOfNext(): void {
    this.#wish = 'forget';
  }

  delayNext(delayMs: number): void {
    this.#wish = { delayMs };
  }

  /** Sends an event again, as a person can ask the platform to do. */
  async redeliver(id: string): Promise<void> {
    const delivery = this.all.find((one) => one.id === id);
    if (delivery === undefined) throw new Error(`There is no delivery ${id}.`);
    await this.#queue({ delivery, event: this.#events.get(id) });
  }

  /** Waits until no attempt is running. */
  async settle(): Promise<void> {
    await this.#last;
  }

  close(): void {
    this.#end.abort();
  }

  #queue(sending: Sending, wish?: 'lose' | 'forget' | 'repeat'): Promise<void> {
    const run = this.#last.then(() => this.#attempt(sending, wish));
    this.#last = run;
    return run;
  }

  async #attempt(sending: Sending, wish?: 'lose' | 'forget' | 'repeat'): Promise<void> {
    if (this.#end.signal.aborted) return;
    const { delivery } = sending;
    const status = wish === 'lose' ? 'lost' : await this.#post(sending);
    const outcome = wish === 'forget' ? 'lost' : status;
    delivery.attempts.push(outcome);
    const isAccepted = typeof outcome === 'number' && outcome >= 200 && outcome < 300;
    const pause = this.#policy.retryAfterMs[delivery.attempts.length - 1];
    if (isAccepted) delivery.state = 'delivered';
    else if (delivery.state === 'pending') {
      if (pause === undefined) delivery.state = 'failed';
      else this.#retry(sending, pause);
    }
    this.#policy.changed();
  }

  #retry(sending: Sending, pauseMs: number): void {
    void sleep(pauseMs, undefined, { signal: this.#end.signal })
      .then(() => this.#queue(sending))
      .catch(() => {});
  }

  async #post({ delivery, event }: Sending): Promise<number | 'lost'> {
    if (this.#target === undefined) return 'lost';
    const { headers, body } = this.#policy.seal(event, delivery);
    try {
      const limit = AbortSignal.timeout(this.#policy.timeoutMs);
      const signal = AbortSignal.any([limit, this.#end.signal]);
      const answer = await fetch(this.#target, { method: 'POST', headers, body, signal });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 'lost';
    }
  }
}
