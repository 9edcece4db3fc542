import type { QueueFile } from './queue-file.ts';
import { isPausedOrMaxed } from './queue-meta.ts';
import { QueueScope } from './queue-scope.ts';

/** Longest single timer; Node's timers overflow at 2^31 ms. */
const LONGEST_TIMER_MS = 3_600_000;

interface Waiter {
  readonly queueId: number;
  /** Unix ms at which to give up. */
  readonly deadline: number;
  timer: NodeJS.Timeout | undefined;
  readonly wake: () => void;
}

/**
 * Idle workers of this process, by queue. After each operation `reconsider` wakes one worker when a
 * job can start; that worker's own claim is an operation too, so it wakes the next one.
 */
export class WakeUps {
  readonly #file: QueueFile;
  readonly #clock: () => number;
  readonly #waiters = new Map<number, Set<Waiter>>();

  constructor(file: QueueFile, clock: () => number) {
    this.#file = file;
    this.#clock = clock;
  }

  /** Resolves when a job can start, a delayed job is due, `timeoutMs` passed or `signal` fires. */
  wait(queueId: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        queueId,
        deadline: this.#clock() + timeoutMs,
        timer: undefined,
        wake: () => {
          clearTimeout(waiter.timer);
          this.#waiters.get(queueId)?.delete(waiter);
          signal.removeEventListener('abort', waiter.wake);
          resolve();
        },
      };
      if (signal.aborted) return resolve();
      signal.addEventListener('abort', waiter.wake);
      this.#enlist(waiter);
      this.reconsider(queueId);
    });
  }

  /** Wakes one idle worker of the queue if there is something to start, or sets its timer. */
  reconsider(queueId: number): void {
    const waiters = this.#waiters.get(queueId);
    const first = waiters?.values().next().value;
    if (!waiters || !first) return;
    const scope = new QueueScope(this.#file, queueId, this.#clock());
    const { waits, dueAt } = scope.outlook();
    if (waits && !isPausedOrMaxed(scope)) first.wake();
    else for (const waiter of waiters) this.#setTimer(waiter, dueAt);
  }

  /** For changes made by another process, about which nothing is known but that they happened. */
  reconsiderAll(): void {
    for (const queueId of [...this.#waiters.keys()]) this.reconsider(queueId);
  }

  /** Ends every wait: the file is closing. */
  wakeAll(): void {
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) waiter.wake();
  }

  #enlist(waiter: Waiter): void {
    const waiters = this.#waiters.get(waiter.queueId) ?? new Set();
    waiters.add(waiter);
    this.#waiters.set(waiter.queueId, waiters);
  }

  #setTimer(waiter: Waiter, dueAt: number): void {
    clearTimeout(waiter.timer);
    const until = Math.min(waiter.deadline, dueAt);
    const ms = Math.min(Math.max(until - this.#clock(), 0), LONGEST_TIMER_MS);
    waiter.timer = setTimeout(waiter.wake, ms);
  }
}
