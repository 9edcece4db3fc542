import { EventEmitter } from 'node:events';
// The function is imported because fake timers replace the global `setImmediate`, but the queue
// must keep running.
import { setImmediate } from 'node:timers';
import {
  ConnectionClosedError,
  type KeysMap,
  type QueueBaseOptions,
  type StreamReadRaw,
} from 'bullmq';
import { QueueFileClosedError } from './errors.ts';
import { appendEvents, EventNotifier, findEndOfEvents, readEventsAfter } from './events.ts';
import { QueueFile, type QueueFileOptions } from './queue-file.ts';
import {
  getQueueId,
  isPausedOrAtLimit,
  type QueueReadiness,
  QueueScope,
  type WorkerSettings,
} from './queue-scope.ts';

/**
 * The delay before a failed operation reports its error, in ms, so that a worker does not retry in
 * a tight loop.
 */
const PAUSE_AFTER_FAILURE_MS = 500;

/**
 * The base class for all backend operations: the queue's identity, transactions, waiting and
 * closing. Subclasses add the operations.
 */
export class BackendBase extends EventEmitter {
  readonly minimumBlockTimeout = 0.001;
  /**
   * The maximum wait in seconds; waits are timers in this backend, so BullMQ's short limit for
   * Redis does not apply.
   */
  readonly maximumBlockTimeout = 3600;
  /** Empty, because jobs are stored as rows rather than keys. */
  readonly keys: KeysMap = {};
  readonly qualifiedName: string;
  closing: Promise<void> | undefined;

  /**
   * Set after a wait has ended: a job is most likely available, so `moveToActive` need not check
   * first.
   */
  protected expectsJob = false;
  protected readonly shared: SharedFile;
  protected readonly settings: WorkerSettings;
  readonly #queueName: string;
  readonly #queueId: number;
  /**
   * The end of the event history when this backend was created, for a listener that starts from
   * `$`.
   */
  readonly #endAtStart: string;
  #blocking = new AbortController();

  constructor(
    shared: SharedFile,
    queueName: string,
    prefix: string | undefined,
    settings: WorkerSettings,
  ) {
    super();
    this.shared = shared;
    this.settings = settings;
    this.#queueName = queueName;
    this.qualifiedName = `${prefix ?? 'bull'}:${queueName}`;
    this.#queueId = getQueueId(shared.file, this.qualifiedName);
    this.#endAtStart = findEndOfEvents(shared.file, this.#queueId);
  }

  /** The backend is ready immediately, because opening the file is synchronous. */
  async waitUntilReady(): Promise<void> {}

  /** Ends waits and rejects further calls. The file stays open; its owner closes it. */
  async close(): Promise<void> {
    this.closing ??= Promise.resolve();
    this.shared.clients.delete(this);
    this.#blocking.abort();
  }

  /** Ends the current waits. */
  async disconnect(): Promise<void> {
    this.#blocking.abort();
    this.#blocking = new AbortController();
  }

  async setName(name: string): Promise<void> {
    this.shared.clients.set(this, name);
  }

  async getClientList(): Promise<string[]> {
    return [[...this.shared.clients.values()].map((name) => `name=${name}`).join('\n')];
  }

  toKey(type: string): string {
    return `${this.qualifiedName}:${type}`;
  }

  parseNodeKey(key: string): { prefix: string; queueName: string; id: string } {
    const [prefix = '', queueName = '', ...id] = key.split(':');
    return { prefix, queueName, id: id.join(':') };
  }

  clientName(suffix = ''): string {
    return `${this.#queueName}${suffix}`;
  }

  /**
   * Waits up to `blockTimeout` seconds for a job that can start. The result is null, which tells
   * BullMQ to fetch the job itself.
   */
  async waitForJob(blockTimeout: number): Promise<null> {
    this.#assertOpen();
    const timeoutMs = Math.max(blockTimeout, 0) * 1000;
    await this.shared.wakeUps.wait(this.#queueId, timeoutMs, this.#blocking.signal);
    this.expectsJob = true;
    return null;
  }

  async disconnectBlocking(): Promise<void> {
    this.#blocking.abort();
  }

  async reconnectBlocking(): Promise<void> {
    if (this.#blocking.signal.aborted) this.#blocking = new AbortController();
  }

  /**
   * Returns the events after `id`, waiting up to `blockTimeout` ms for the first one; null if none
   * arrived.
   */
  async readEvents(id: string, blockTimeout: number): Promise<StreamReadRaw> {
    this.#assertOpen();
    const { signal } = this.#blocking;
    const cursor = id === '$' ? this.#endAtStart : id;
    const read = () =>
      this.shared.file.snapshot(() => readEventsAfter(this.shared.file, this.#queueId, cursor));
    // The caller that caused an event continues first, so a job announced as active can be
    // cancelled immediately.
    await new Promise((resolve) => setImmediate(resolve));
    this.#assertOpen();
    let entries = read();
    if (entries.length === 0) {
      await this.shared.news.wait(this.#queueId, blockTimeout, signal);
      if (signal.aborted) return null;
      this.#assertOpen();
      entries = read();
    }
    return entries.length === 0 ? null : [['events', entries]];
  }

  /**
   * Runs a change in one transaction together with its events, then wakes a worker and the
   * listeners.
   */
  protected async write<T>(change: (scope: QueueScope) => T): Promise<T> {
    await this.#takeTurn();
    const { file, clock, wakeUps, news } = this.shared;
    const committed = file.groupedTransaction(() => {
      const scope = new QueueScope(file, this.#queueId, clock());
      const value = change(scope);
      appendEvents(scope);
      return value;
    });
    // The failure is handled below; without this handler, an error in `reconsider` would leave a
    // rejection unhandled.
    committed.catch(() => {});
    // A worker woken at this point claims the job in the same commit and receives it when the
    // commit is done.
    wakeUps.reconsider(this.#queueId);
    const result = await committed;
    news.announce(this.#queueId);
    return result;
  }

  /** Runs a query; all of its statements see the same snapshot. */
  protected async read<T>(question: (scope: QueueScope) => T): Promise<T> {
    await this.#takeTurn();
    const { file, clock } = this.shared;
    return file.snapshot(() => question(new QueueScope(file, this.#queueId, clock())));
  }

  /** Reads in one statement which jobs may start, now and later. */
  protected async look(): Promise<QueueReadiness & { readonly now: number }> {
    await this.#takeTurn();
    const { file, clock } = this.shared;
    const scope = new QueueScope(file, this.#queueId, clock());
    return { ...scope.outlook(), now: scope.now };
  }

  /**
   * Delays an error for BullMQ's main loop, which would otherwise repeat the failed call
   * immediately and forever.
   */
  protected async orPause<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_AFTER_FAILURE_MS));
      throw error;
    }
  }

  async #takeTurn(): Promise<void> {
    for (let next = this.shared.turns.take(); next; next = this.shared.turns.take()) await next;
    this.#assertOpen();
  }

  #assertOpen(): void {
    if (this.closing) throw new ConnectionClosedError();
    if (!this.shared.file.isOpen) throw new QueueFileClosedError(this.shared.file.path);
  }
}

/** Reads the worker settings from the options passed to any BullMQ class. */
export function readWorkerSettings(opts: QueueBaseOptions): WorkerSettings {
  return opts as WorkerSettings;
}

/** State that the queues, workers and listeners of a file share within a process. */
export class SharedFile {
  readonly file: QueueFile;
  readonly clock: () => number;
  readonly turns = new TurnBudget();
  readonly wakeUps: WakeUpScheduler;
  readonly news = new EventNotifier();
  /** Names of the open workers and listeners, for `getWorkers` and `getQueueEvents`. */
  readonly clients = new Map<object, string>();
  #foreignChanges = 0;
  #poll: NodeJS.Timeout | undefined;

  constructor(path: string, options: QueueFileOptions, clock: () => number) {
    this.file = new QueueFile(path, options);
    this.clock = clock;
    this.wakeUps = new WakeUpScheduler(this.file, clock);
  }

  /**
   * Checks for other processes' commits every `everyMs`. The timer does not keep the process alive.
   */
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

/** How long operations may follow each other before yielding to the event loop, in ms. */
const MAX_TURN_MS = 4;

/**
 * Keeps timers and sockets responsive under load. SQLite calls return immediately, so workers and
 * producers would chain microtasks forever and the event loop would never advance. All users of a
 * file share one budget; when it is used up, they all wait for the next event loop turn.
 */
class TurnBudget {
  #spentAt = 0;
  #nextTurn: Promise<void> | undefined;

  /** If this returns a promise, await the promise and call again. */
  take(): Promise<void> | undefined {
    this.#nextTurn ??= this.#startTurn();
    return performance.now() < this.#spentAt ? undefined : this.#nextTurn;
  }

  #startTurn(): Promise<void> {
    this.#spentAt = performance.now() + MAX_TURN_MS;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#nextTurn = undefined;
        resolve();
      });
    });
  }
}

/** The longest single timer, in ms; Node's timers overflow at 2^31 ms. */
const MAX_TIMER_MS = 3_600_000;

interface WaitingWorker {
  readonly queueId: number;
  /** When to stop waiting, in Unix ms. */
  readonly deadline: number;
  timer: NodeJS.Timeout | undefined;
  readonly wake: () => void;
}

/**
 * This process's idle workers, by queue. After each operation, `reconsider` wakes one worker if a
 * job can start. That worker's claim is also an operation and wakes the next one.
 */
class WakeUpScheduler {
  readonly #file: QueueFile;
  readonly #clock: () => number;
  readonly #waiters = new Map<number, Set<WaitingWorker>>();

  constructor(file: QueueFile, clock: () => number) {
    this.#file = file;
    this.#clock = clock;
  }

  /**
   * Resolves when a job can start, a delayed job is due, `timeoutMs` has passed or `signal` fires.
   */
  wait(queueId: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiter: WaitingWorker = {
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

  /**
   * Wakes one of the queue's idle workers if a job can start; otherwise sets the timers for the
   * idle workers.
   */
  reconsider(queueId: number): void {
    const waiters = this.#waiters.get(queueId);
    const first = waiters?.values().next().value;
    if (!waiters || !first) return;
    const scope = new QueueScope(this.#file, queueId, this.#clock());
    const { waits, dueAt } = scope.outlook();
    if (waits && !isPausedOrAtLimit(scope)) first.wake();
    else for (const waiter of waiters) this.#setTimer(waiter, dueAt);
  }

  /** Called when another process has committed unknown changes. */
  reconsiderAll(): void {
    for (const queueId of [...this.#waiters.keys()]) this.reconsider(queueId);
  }

  /** Ends all waits because the file is closing. */
  wakeAll(): void {
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) waiter.wake();
  }

  #enlist(waiter: WaitingWorker): void {
    const waiters = this.#waiters.get(waiter.queueId) ?? new Set();
    waiters.add(waiter);
    this.#waiters.set(waiter.queueId, waiters);
  }

  #setTimer(waiter: WaitingWorker, dueAt: number): void {
    clearTimeout(waiter.timer);
    const until = Math.min(waiter.deadline, dueAt);
    const ms = Math.min(Math.max(until - this.#clock(), 0), MAX_TIMER_MS);
    waiter.timer = setTimeout(waiter.wake, ms);
  }
}
