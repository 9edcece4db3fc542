import { AsyncLocalStorage } from 'node:async_hooks';

/** A value that an adapter keeps, with the time of its expiry (ms since 1970); null deletes it. */
export interface KeptValue {
  readonly value: unknown;
  readonly until: number | undefined;
}

/**
 * One event of a platform while it is handled. Adapters return from a webhook before their handlers
 * have finished, so everything they leave running is collected here; the platform gets its answer
 * once all of it has ended. What they remember meanwhile ("this event was delivered") stays here
 * until the messages are stored. Otherwise a crash in between would make them drop the repeat of an
 * event that is not stored.
 */
export class EventScope {
  readonly writes = new Map<string, KeptValue | null>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #failures: unknown[] = [];
  #isOpen = true;

  /** False once the event has its answer: code that still runs then belongs to no event. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Waits for this work before the event is answered. The scope keeps its failure. */
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

  /** Resolves once all work has ended, including work that it has started. Throws its first failure. */
  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  close(): void {
    this.#isOpen = false;
  }
}

/** The event that the running code handles, however deep in an adapter it runs. */
export class CurrentEvent {
  readonly #storage = new AsyncLocalStorage<EventScope>();

  run<T>(scope: EventScope, work: () => Promise<T>): Promise<T> {
    return this.#storage.run(scope, work);
  }

  /** Undefined outside of events: for a timer, a send, or an adapter with a loop of its own. */
  get scope(): EventScope | undefined {
    const scope = this.#storage.getStore();
    return scope?.isOpen === true ? scope : undefined;
  }
}
