import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type BackendFactory,
  type ConnectionOptions,
  createRedisBackend,
  type IQueueBackend,
  type Processor,
  Queue,
  QueueEvents,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { describe, test } from 'vitest';
import { openSqliteQueues } from '../open-sqlite-queues.ts';

/**
 * A datastore under test: the factory for BullMQ's classes, and the connection to its server, if
 * any.
 */
interface Datastore {
  readonly backend: BackendFactory<IQueueBackend>;
  readonly connection: ConnectionOptions;
}

/** A separate queue for one test, which is closed with all of its workers and listeners. */
export class TestQueue {
  readonly store: Datastore;
  readonly queue: ReturnType<typeof openQueue>;
  readonly #opened: (() => Promise<unknown>)[] = [];
  readonly #endings = new Map<unknown, number>();

  constructor(store: Datastore) {
    this.store = store;
    this.queue = openQueue(store, `lab-${randomUUID()}`);
    this.queue.on('error', rethrowLater);
    this.#opened.push(() => this.queue.close());
  }

  /** Creates a worker, which starts immediately unless `autorun` is false. */
  worker(processor: Processor | null, options: Partial<WorkerOptions> = {}) {
    const worker = openWorker(this.store, this.queue.name, processor, options);
    worker.on('error', ignoreWorkerError);
    const count = () => this.#endings.set(worker, (this.#endings.get(worker) ?? 0) + 1);
    worker.on('completed', count);
    worker.on('failed', count);
    this.#opened.push(() => worker.close(true));
    return worker;
  }

  /**
   * Creates a listener for all events after `lastEventId`; the default covers all, because the
   * queue is new.
   */
  events(lastEventId = '0-0') {
    const events = openQueueEvents(this.store, this.queue.name, lastEventId);
    events.on('error', rethrowLater);
    this.#opened.push(() => events.close());
    return events;
  }

  /**
   * Waits until `count` runs of a worker have ended, each with a completion or a failed attempt.
   */
  ended(worker: ReturnType<typeof openWorker>, count: number): Promise<void> {
    return waitUntil(() => (this.#endings.get(worker) ?? 0) >= count);
  }

  async close(): Promise<void> {
    for (const close of this.#opened.toReversed()) await close();
  }

  /**
   * Runs jobs until `count` have ended, and returns their names in the order in which they started.
   */
  async run(count: number, options: Partial<WorkerOptions> = {}): Promise<string[]> {
    const started: string[] = [];
    const worker = this.worker(async (job) => {
      started.push(job.name);
    }, options);
    await this.ended(worker, count);
    await worker.close();
    return started;
  }
}

/** Creates a promise and its resolver, to let a processor continue. */
export function createGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Waits until `condition` holds; the test's own timeout ends a wait that never succeeds. */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(5);
}

/** Waits `ms` of real time. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function openQueue(store: Datastore, name: string) {
  return new Queue(name, { connection: store.connection }, store.backend);
}

function openWorker(
  store: Datastore,
  name: string,
  processor: Processor | null,
  options: Partial<WorkerOptions>,
) {
  return new Worker(name, processor, { ...options, connection: store.connection }, store.backend);
}

function openQueueEvents(store: Datastore, name: string, lastEventId: string) {
  return new QueueEvents(name, { connection: store.connection, lastEventId }, store.backend);
}

/** Workers report errors that tests provoke, such as lost locks; the tests check the effects. */
function ignoreWorkerError(): void {}

function rethrowLater(error: Error): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** The type of `it` with a fresh queue, as in `it('…', async ({ lab }) => …)`. */
type QueueTest = typeof onSqlite;

/**
 * Declares the same tests for SQLite and for BullMQ on Redis, to prove that the expectations
 * describe BullMQ's behavior. Without Redis, only the SQLite tests are declared.
 */
export function describeOnBothBackends(
  title: string,
  redisUrl: string | null,
  behaviours: (it: QueueTest) => void,
): void {
  describe.concurrent(`${title} on SQLite`, () => behaviours(onSqlite));
  describe
    .runIf(redisUrl)
    .concurrent(`${title} on Redis`, () => behaviours(createRedisTest(redisUrl ?? '')));
}

const onSqlite = test.extend<{ lab: TestQueue }>({
  lab: async ({ task: _ }, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'bullmq-sqlite-'));
    const sqlite = openSqliteQueues({ file: join(folder, 'queue.db') });
    const lab = new TestQueue({ backend: sqlite.backend, connection: {} });
    await use(lab);
    await lab.close();
    sqlite.close();
    rmSync(folder, { recursive: true });
  },
});

function createRedisTest(url: string): QueueTest {
  const prefix = `test-${randomUUID()}`;
  const backend: BackendFactory<IQueueBackend> = (name, opts, role) =>
    createRedisBackend(name, { ...opts, prefix } as typeof opts, role);
  return test.extend<{ lab: TestQueue }>({
    lab: async ({ task: _ }, use) => {
      const lab = new TestQueue({ backend, connection: { url } });
      await use(lab);
      await lab.close();
    },
  });
}
