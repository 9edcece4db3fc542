import { EventEmitter } from 'node:events';
import {
  ConnectionClosedError,
  type KeysMap,
  type QueueBaseOptions,
  type StreamReadRaw,
} from 'bullmq';
import { QueueFileClosedError } from './errors.ts';
import { appendEvents, endOfEvents, readEventsAfter } from './events.ts';
import { type Outlook, QueueScope, queueIdOf, type WorkerSettings } from './queue-scope.ts';
import type { SharedFile } from './shared-file.ts';

/** A worker that cannot reach its queue asks again after this long, instead of in a tight loop. */
const PAUSE_AFTER_FAILURE_MS = 500;

/**
 * The base of every operation of a backend: the queue's identity, transactions, waiting and
 * closing. The operations themselves are in the classes that extend this one.
 */
export class BackendBase extends EventEmitter {
  readonly minimumBlockTimeout = 0.001;
  /** Seconds. Waits are timers here, so there is no reason for BullMQ's short limit for Redis. */
  readonly maximumBlockTimeout = 3600;
  /** Empty: jobs are rows here, not keys. */
  readonly keys: KeysMap = {};
  readonly qualifiedName: string;
  closing: Promise<void> | undefined;

  protected readonly shared: SharedFile;
  protected readonly settings: WorkerSettings;
  readonly #queueName: string;
  readonly #queueId: number;
  /** Where a listener starts that reads "from now on": the end when this backend was made. */
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
    this.#queueId = queueIdOf(shared.file, this.qualifiedName);
    this.#endAtStart = endOfEvents(shared.file, this.#queueId);
  }

  /** Ready at once: opening the file was synchronous. */
  async waitUntilReady(): Promise<void> {}

  /** Ends waits and refuses further calls. The file stays open: its owner closes it. */
  async close(): Promise<void> {
    this.closing ??= Promise.resolve();
    this.shared.clients.delete(this);
    this.#blocking.abort();
  }

  /** Ends the waits of this moment. */
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

  /** Waits up to `blockTimeout` seconds for something to start; null says "look for yourself". */
  async waitForJob(blockTimeout: number): Promise<null> {
    this.#assertOpen();
    const timeoutMs = Math.max(blockTimeout, 0) * 1000;
    await this.shared.wakeUps.wait(this.#queueId, timeoutMs, this.#blocking.signal);
    return null;
  }

  async disconnectBlocking(): Promise<void> {
    this.#blocking.abort();
  }

  async reconnectBlocking(): Promise<void> {
    if (this.#blocking.signal.aborted) this.#blocking = new AbortController();
  }

  /** Events after `id`, waiting up to `blockTimeout` ms for the first; null when none came. */
  async readEvents(id: string, blockTimeout: number): Promise<StreamReadRaw> {
    this.#assertOpen();
    const { signal } = this.#blocking;
    const cursor = id === '$' ? this.#endAtStart : id;
    const read = () => readEventsAfter(this.shared.file, this.#queueId, cursor);
    let entries = read();
    if (entries.length === 0) {
      await this.shared.news.wait(this.#queueId, blockTimeout, signal);
      if (signal.aborted) return null;
      this.#assertOpen();
      entries = read();
    }
    return entries.length === 0 ? null : [['events', entries]];
  }

  /** Runs a change in one transaction together with its events, then wakes whom it concerns. */
  protected async write<T>(change: (scope: QueueScope) => T): Promise<T> {
    await this.#takeTurn();
    const { file, clock, wakeUps, news } = this.shared;
    const result = file.transaction(() => {
      const scope = new QueueScope(file, this.#queueId, clock());
      const value = change(scope);
      appendEvents(scope);
      return value;
    });
    wakeUps.reconsider(this.#queueId);
    news.announce(this.#queueId);
    return result;
  }

  /** Runs a question; all its statements see the same state. */
  protected async read<T>(question: (scope: QueueScope) => T): Promise<T> {
    await this.#takeTurn();
    const { file, clock } = this.shared;
    return file.snapshot(() => question(new QueueScope(file, this.#queueId, clock())));
  }

  /** What may start at this moment, by one statement. */
  protected async look(): Promise<Outlook & { readonly now: number }> {
    await this.#takeTurn();
    const { file, clock } = this.shared;
    const scope = new QueueScope(file, this.#queueId, clock());
    return { ...scope.outlook(), now: scope.now };
  }

  /** For BullMQ's main loop: it repeats a failed call at once, for ever. */
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

/** Reads the worker settings out of whatever BullMQ class made the backend. */
export function workerSettings(opts: QueueBaseOptions): WorkerSettings {
  return opts as WorkerSettings;
}
