import { EventNews } from './events.ts';
import { QueueFile, type QueueFileOptions } from './queue-file.ts';
import { isPausedOrMaxed, QueueScope } from './queue-scope.ts';

/** Everything the queues, workers and listeners of one process share about one file. */
export class SharedFile {
  readonly file: QueueFile;
  readonly clock: () => number;
  readonly turns = new TurnBudget();
  readonly wakeUps: WakeUps;
  readonly news = new EventNews();
  /** Names of the workers and listeners now open, for `getWorkers` and `getQueueEvents`. */
  readonly clients = new Map<object, string>();
  #foreignChanges = 0;
  #poll: NodeJS.Timeout | undefined;

  constructor(path: string, options: QueueFileOptions, clock: () => number) {
    this.file = new QueueFile(path, options);
    this.clock = clock;
    this.wakeUps = new WakeUps(this.file, clock);
  }

  /** Looks every `everyMs` for commits of other processes. The timer keeps no process alive. */
  startPolling(everyMs: number): void {
    this.#foreignChanges = this.file.foreignChanges();
    this.#poll = setInterval(() => this.#lookForForeignChanges(), everyMs).unref();
  }

  close(): void {
    clearInterval(this.#poll);
    this.file.close();
    this.wakeUps.wakeAll();
    this.news.announceAll();
  }

  #lookForForeignChanges(): void {
    const changes = this.file.foreignChanges();
    if (changes === this.#foreignChanges) return;
    this.#foreignChanges = changes;
    this.wakeUps.reconsiderAll();
    this.news.announceAll();
  }
}

/**
 * How many operations may run before the event loop gets a turn. Sixteen are about 2 ms.
 */
const OPERATIONS_PER_TURN = 16;

/**
 * Keeps timers and sockets alive under load. SQLite calls finish at once, so workers and producers
 * would chain in microtasks for ever and the event loop would never move on. Everyone who
 * shares a file shares the budget; when it is spent, all of them wait for the same `setImmediate`.
 */
class TurnBudget {
  #left = OPERATIONS_PER_TURN;
  #nextTurn: Promise<void> | undefined;

  /** Takes one operation from the budget; a promise means "await me, then take again". */
  take(): Promise<void> | undefined {
    if (this.#left > 0) {
      this.#left -= 1;
      return undefined;
    }
    this.#nextTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#left = OPERATIONS_PER_TURN;
        this.#nextTurn = undefined;
        resolve();
      });
    });
    return this.#nextTurn;
  }
}

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
