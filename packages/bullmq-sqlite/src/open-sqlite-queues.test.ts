import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ConnectionClosedError, FlowProducer, Queue, QueueEvents, Worker } from 'bullmq';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { QueueFileClosedError, SqliteQueueError } from './errors.ts';
import { openSqliteQueues } from './open-sqlite-queues.ts';
import { waitUntil } from './testing/lab.ts';

function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bullmq-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'made', 'on-demand', 'queue.db');
}

describe('a queue file', () => {
  it('creates the queue file with its folders, and keeps jobs after reopening', async () => {
    const file = freshFile();
    const first = openSqliteQueues({ file });
    const queue = new Queue('q', { connection: {} }, first.backend);
    await queue.add('kept', { n: 1 });
    await queue.close();
    first.close();
    first.close();

    using second = openSqliteQueues({ file, synchronous: 'full' });
    const again = new Queue('q', { connection: {} }, second.backend);
    expect((await again.getJob('1'))?.data).toEqual({ n: 1 });
    await again.close();
  });

  it('follows fake timers installed after it was opened', async () => {
    using sqlite = openSqliteQueues({ file: freshFile() });
    const queue = new Queue('q', { connection: {} }, sqlite.backend);
    const add = async () =>
      (await queue.add('job', {}, { deduplication: { id: 'chat', ttl: 60_000 } })).id;
    expect([await add(), await add()]).toEqual(['1', '1']);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await add()).not.toBe('1');
    await queue.close();
  });

  it('announces a job as active once its worker has it, so that it can be cancelled immediately', async () => {
    using sqlite = openSqliteQueues({ file: freshFile() });
    const queue = new Queue('q', { connection: {} }, sqlite.backend);
    const events = new QueueEvents('q', { connection: {} }, sqlite.backend);
    await events.waitUntilReady();
    const untilCancelled = (_job: unknown, _token: unknown, signal?: AbortSignal) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', reject));
    const worker = new Worker('q', untilCancelled, { connection: {} }, sqlite.backend);
    events.on('active', ({ jobId }) => worker.cancelJob(jobId));
    await queue.addBulk(Array.from({ length: 40 }, () => ({ name: 'job', data: {} })));
    await waitUntil(async () => (await queue.getFailedCount()) === 40);
    for (const one of [worker, events, queue]) await one.close();
  });

  it('deletes expired deduplication ids when new ids are claimed', async () => {
    const file = freshFile();
    let now = 1_000;
    using sqlite = openSqliteQueues({ file, clock: () => now });
    const queue = new Queue('q', { connection: {} }, sqlite.backend);
    for (let n = 0; n < 100; n += 1) {
      await queue.add('job', {}, { deduplication: { id: `chat ${n}`, ttl: 10 } });
      now += 1;
    }
    using db = new DatabaseSync(file, { readOnly: true });
    expect(db.prepare('SELECT count(*) AS rows FROM dedup').get()).toEqual({ rows: 10 });
    await queue.close();
  });

  it('separates queues by name and by prefix', async () => {
    using sqlite = openSqliteQueues({ file: freshFile() });
    const open = (name: string, prefix?: string) =>
      new Queue(name, { connection: {}, ...(prefix && { prefix }) }, sqlite.backend);
    const queues = [open('a'), open('b'), open('a', 'other')];
    await queues[0]?.add('one', {});
    expect(await Promise.all(queues.map((queue) => queue.count()))).toEqual([1, 0, 0]);
    await Promise.all(queues.map((queue) => queue.close()));
  });

  it('refuses a queue file that is not a database or has another layout', () => {
    const text = freshFile();
    openSqliteQueues({ file: text }).close();
    const newer = text.replace('queue.db', 'newer.db');
    writeFileSync(
      text,
      'this is not a database, but it is long enough to be taken for one'.repeat(20),
    );
    const db = new DatabaseSync(newer);
    db.exec('PRAGMA user_version = 999');
    db.close();
    expect(() => openSqliteQueues({ file: text })).toThrow(
      expect.objectContaining({ code: 'queue-file-unusable', retryable: false }),
    );
    expect(() => openSqliteQueues({ file: newer })).toThrow(
      expect.objectContaining({ code: 'queue-file-layout' }),
    );
  });

  it('reports that another process blocks it, and that the call can be retried', async () => {
    const file = freshFile();
    using sqlite = openSqliteQueues({ file, busyTimeoutMs: 20 });
    const queue = new Queue('q', { connection: {} }, sqlite.backend);
    await queue.add('a', {});
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const busy = { code: 'queue-file-busy', retryable: true };
    await expect(queue.add('b', {})).rejects.toMatchObject(busy);
    other.exec('ROLLBACK');
    other.close();
    await queue.add('b', {});
    expect(await queue.count()).toBe(2);
    await queue.close();
  });

  it('rejects operations after it was closed; a worker left open does not report errors', async () => {
    const sqlite = openSqliteQueues({ file: freshFile() });
    const queue = new Queue('q', { connection: {} }, sqlite.backend);
    const errors: Error[] = [];
    const worker = new Worker('q', async () => {}, { connection: {} }, sqlite.backend);
    worker.on('error', (error) => errors.push(error));
    await worker.waitUntilReady();
    await queue.add('a', {});
    await waitUntil(async () => (await queue.getCompletedCount()) === 1);
    sqlite.close();
    await expect(queue.add('late', {})).rejects.toBeInstanceOf(QueueFileClosedError);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(errors).toEqual([]);
    await worker.close(true);
    await queue.close();
  });
});

describe('an unsupported feature', () => {
  it('is rejected with an error that names it', async () => {
    using sqlite = openSqliteQueues({ file: freshFile() });
    const queue = new Queue('q', { connection: {} }, sqlite.backend);
    const flows = new FlowProducer({ connection: {} }, sqlite.backend);
    const unsupported = { code: 'not-supported', retryable: false };
    const parent = { id: '1', queue: 'bull:q' };
    await expect(queue.add('child', {}, { parent })).rejects.toMatchObject(unsupported);
    await expect(queue.add('child', {}, { parent })).rejects.toThrow(/flows.*"parent"/);
    await expect(flows.add({ name: 'root', queueName: 'q' })).rejects.toBeInstanceOf(
      SqliteQueueError,
    );
    await expect(queue.getDependencies('1', 'processed', 0, 1)).rejects.toThrow(/flows/);
    expect(await queue.count()).toBe(0);
    await Promise.all([queue.close(), flows.close()]);
  });
});

describe('a single process with a queue file', () => {
  it('does not write events when they are turned off, and still runs jobs', async () => {
    const file = freshFile();
    using sqlite = openSqliteQueues({ file, events: false });
    const ran: string[] = [];
    const queue = new Queue('q', { connection: {} }, sqlite.backend);
    const worker = new Worker(
      'q',
      async ({ name }) => ran.push(name),
      { connection: {} },
      sqlite.backend,
    );
    await queue.add('now', {}, { deduplication: { id: 'one' } });
    await queue.add('dropped', {}, { deduplication: { id: 'one' } });
    await queue.add('later', {}, { delay: 20 });
    await waitUntil(() => ran.length === 2);
    await Promise.all([worker.close(), queue.close()]);
    expect(ran).toEqual(['now', 'later']);
    const db = new DatabaseSync(file);
    expect(db.prepare('SELECT count(*) AS n FROM event').get()).toEqual({ n: 0 });
    db.close();
  });

  it('keeps timers and other work running while thousands of jobs run', async () => {
    using sqlite = openSqliteQueues({ file: freshFile() });
    const queue = new Queue('q', { connection: {} }, sqlite.backend);
    const opts = { removeOnComplete: true };
    await queue.addBulk(Array.from({ length: 5000 }, () => ({ name: 'noop', data: {}, opts })));
    let done = 0;
    const doneAtTick: number[] = [];
    const worker = new Worker(
      'q',
      async () => {
        done += 1;
      },
      { connection: {}, concurrency: 50 },
      sqlite.backend,
    );
    const ticks = setInterval(() => doneAtTick.push(done), 1);
    await waitUntil(() => done === 5000);
    clearInterval(ticks);
    await worker.close();
    await queue.close();
    // Without yielding, one gap between two ticks would contain all 5,000 runs; with it, a gap
    // contains only a few.
    const gaps = doneAtTick.map((count, at) => count - (doneAtTick[at - 1] ?? 0));
    expect(Math.max(...gaps, 5000 - (doneAtTick.at(-1) ?? 0))).toBeLessThan(1000);
    expect(doneAtTick.length).toBeGreaterThan(20);
  });

  it('wakes one idle worker per job instead of all of them', async () => {
    using sqlite = openSqliteQueues({ file: freshFile() });
    const queue = new Queue('q', { connection: {} }, sqlite.backend);
    const options = { connection: {}, drainDelay: 60 };
    const workers = [1, 2, 3].map(() => new Worker('q', async () => {}, options, sqlite.backend));
    let drained = 0;
    for (const worker of workers) worker.on('drained', () => (drained += 1));
    await waitUntil(() => drained === 3);
    await queue.addBulk(['a', 'b'].map((name) => ({ name, data: {} })));
    await waitUntil(async () => (await queue.getCompletedCount()) === 2);
    expect(drained).toBeLessThan(6);
    await Promise.all(workers.map((worker) => worker.close()));
    await queue.close();
  });

  it('runs a job that is added while an idle worker closes', async () => {
    using sqlite = openSqliteQueues({ file: freshFile() });
    const queue = new Queue('q', { connection: {} }, sqlite.backend);
    const options = { connection: {}, drainDelay: 60 };
    const ran: string[] = [];
    const workers = ['first', 'second'].map((name) => {
      const processor = async () => {
        ran.push(name);
      };
      return new Worker('q', processor, options, sqlite.backend);
    });
    await Promise.all(
      workers.map((worker) => new Promise<void>((go) => worker.once('drained', go))),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    const adding = queue.add('a', {});
    const closing = workers[0]?.close();
    await Promise.all([adding, closing]);
    await waitUntil(() => ran.length === 1);
    await workers[1]?.close();
    await queue.close();
  });

  it('stops waiting when a listener closes, and continues when one disconnects', async () => {
    using sqlite = openSqliteQueues({ file: freshFile() });
    const queue = new Queue('q', { connection: {} }, sqlite.backend);
    const events = new QueueEvents('q', { connection: {} }, sqlite.backend);
    const heard: string[] = [];
    events.on('added', ({ jobId }) => heard.push(jobId));
    await events.waitUntilReady();
    await events.disconnect();
    await queue.add('a', {});
    await waitUntil(() => heard.length === 1);
    await events.close();
    await queue.close();
    await expect(queue.add('late', {})).rejects.toBeInstanceOf(ConnectionClosedError);
  });
});
