import { EventEmitter } from 'node:events';
import { type EventEntry, endOfEvents, readEventsAfter } from './events.ts';
import type { QueueFile } from './queue-file.ts';

/** Tells readers of a queue's event history that something was written. */
export class EventNews {
  // One listener per waiting QueueEvents; there is no sensible limit to warn about.
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  announce(queueId: number): void {
    this.#emitter.emit(String(queueId));
  }

  /** For changes by others, about which nothing is known but that they happened. */
  announceAll(): void {
    for (const queue of this.#emitter.eventNames()) this.#emitter.emit(queue);
  }

  /** Resolves at the next announcement, after `timeoutMs` (0 waits for ever) or on `signal`. */
  wait(queueId: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const queue = String(queueId);
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = timeoutMs > 0 ? setTimeout(() => done(), timeoutMs) : undefined;
      const done = () => {
        clearTimeout(timer);
        this.#emitter.off(queue, done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#emitter.on(queue, done);
      signal.addEventListener('abort', done);
    });
  }
}

/** A reader's place in one queue's events, remembered for readers that start "from now on". */
export class EventTail {
  readonly #file: QueueFile;
  readonly #queueId: number;
  readonly #start: string;

  constructor(file: QueueFile, queueId: number) {
    this.#file = file;
    this.#queueId = queueId;
    this.#start = endOfEvents(file, queueId);
  }

  /** Events after `cursor`; `$` means everything since this reader was made. */
  read(cursor: string): EventEntry[] {
    return readEventsAfter(this.#file, this.#queueId, cursor === '$' ? this.#start : cursor);
  }
}
