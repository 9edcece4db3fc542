import { setTimeout as sleep } from 'node:timers/promises';

/** One webhook call as it leaves the platform. */
export interface WebhookEnvelope {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * An event to be delivered to the webhook, with the result of each attempt: a status or an error.
 */
export interface Delivery {
  readonly id: string;
  readonly kind: string;
  readonly attempts: (number | 'lost')[];
  state: 'pending' | 'delivered' | 'failed';
}

export interface DeliveryPolicy {
  /** Signs the event, once for each attempt because some signatures contain the time. */
  readonly seal: (event: unknown, delivery: Delivery) => WebhookEnvelope;
  /** The pauses before further attempts, in ms; empty when the platform never retries. */
  readonly retryAfterMs: readonly number[];
  /** The time after which the platform stops waiting for a response. */
  readonly timeoutMs: number;
  readonly changed: () => void;
}

interface PendingDelivery {
  readonly delivery: Delivery;
  readonly event: unknown;
}

/**
 * Sends events to the webhook one after another with the platform's retry policy, and repeats,
 * delays, swaps or loses them on demand.
 */
export class WebhookDeliveries {
  readonly all: Delivery[] = [];
  readonly #policy: DeliveryPolicy;
  readonly #events = new Map<string, unknown>();
  readonly #end = new AbortController();
  #target: string | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #wish: 'repeat' | 'swap' | 'lose' | 'forget' | { readonly delayMs: number } | undefined;
  #swapped: PendingDelivery | undefined;

  constructor(policy: DeliveryPolicy) {
    this.#policy = policy;
  }

  /** Sets the address of the webhook; undefined while the platform cannot reach it. */
  sendTo(target: string | undefined): void {
    this.#target = target;
  }

  /**
   * Queues an event; resolves with its delivery after the first attempt, or immediately when the
   * event is held back.
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

  /** Delivers the next event twice. */
  repeatNext(): void {
    this.#wish = 'repeat';
  }

  /** Delivers the next event after the one that follows it. */
  swapNext(): void {
    this.#wish = 'swap';
  }

  /** Loses the first delivery attempt of the next event. */
  loseNext(): void {
    this.#wish = 'lose';
  }

  /** Delivers the next event but loses the response. */
  forgetAnswerOfNext(): void {
    this.#wish = 'forget';
  }

  delayNext(delayMs: number): void {
    this.#wish = { delayMs };
  }

  /** Redelivers an event, as a person can request on the platform. */
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

  #queue(sending: PendingDelivery, wish?: 'lose' | 'forget' | 'repeat'): Promise<void> {
    const run = this.#last.then(() => this.#attempt(sending, wish));
    this.#last = run;
    return run;
  }

  async #attempt(sending: PendingDelivery, wish?: 'lose' | 'forget' | 'repeat'): Promise<void> {
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

  #retry(sending: PendingDelivery, pauseMs: number): void {
    void sleep(pauseMs, undefined, { signal: this.#end.signal })
      .then(() => this.#queue(sending))
      .catch(() => {});
  }

  async #post({ delivery, event }: PendingDelivery): Promise<number | 'lost'> {
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
