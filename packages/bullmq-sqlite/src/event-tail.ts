import { EventEmitter } from 'node:events';
import { type EventEntry, endOfEvents, readEventsAfter } from './events.ts';
import type { QueueFile } from './queue-file.ts';

/** Tells readers of the event history that something was written. */
export class EventNews {
  // One listener per waiting QueueEvents; there is no sensible limit to warn about.
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  announce(): void {
    this.#emitter.emit('news');
  }

  /** Resolves at the next announcement, after `timeoutMs` (0 waits for ever) or on `signal`. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = timeoutMs > 0 ? setTimeout(() => done(), timeoutMs) : undefined;
      const done = () => {
        clearTimeout(timer);
        this.#emitter.off('news', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#emitter.on('news', done);
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
