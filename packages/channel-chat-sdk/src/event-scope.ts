import { AsyncLocalStorage } from 'node:async_hooks';

/** A value that an adapter stores, with its expiry time (ms since 1970); null deletes the value. */
export interface StoredValue {
  readonly value: unknown;
  readonly until: number | undefined;
}

/**
 * A platform event that is being handled. Adapters return from a webhook before their handlers
 * finish, so the scope tracks the pending work. The platform gets its answer once all of this work
 * has ended. Values that adapters write during an event (such as "this event was delivered") stay
 * in the scope until the messages are stored. Otherwise, the adapter would drop the redelivered
 * event after a crash, although its messages were never stored.
 */
export class EventScope {
  readonly writes = new Map<string, StoredValue | null>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #failures: unknown[] = [];
  #isOpen = true;

  /**
   * False once the event is answered; code that is still running after that no longer belongs to
   * the event.
   */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Delays the answer to the event until this work ends. If the work fails, the scope records the
   * failure.
   */
  track(work: PromiseLike<unknown>): void {
    const ended: Promise<unknown> = Promise.resolve(work)
      .catch((error: unknown) => this.#failures.push(error))
      .finally(() => this.#running.delete(ended));
    this.#running.add(ended);
  }

  /** Records that the event could not be stored. */
  fail(error: unknown): void {
    this.#failures.push(error);
  }

  /**
   * Resolves once all tracked work has ended, including work started by it; throws the first
   * failure.
   */
  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  close(): void {
    this.#isOpen = false;
  }
}

/**
 * The event that the running code is handling. It is known in all asynchronous calls of an adapter.
 */
export class CurrentEvent {
  readonly #storage = new AsyncLocalStorage<EventScope>();

  run<T>(scope: EventScope, work: () => Promise<T>): Promise<T> {
    return this.#storage.run(scope, work);
  }

  /** Undefined outside events: in a timer, while sending, or in an adapter's polling loop. */
  get scope(): EventScope | undefined {
    const scope = this.#storage.getStore();
    return scope?.isOpen === true ? scope : undefined;
  }
}
