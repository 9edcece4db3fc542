import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue, Worker } from 'bullmq';
import { describe, expect, onTestFinished, it as test } from 'vitest';
import { openSqliteQueues } from './open-sqlite-queues.ts';
import type { ChildMessage, ChildTask } from './testing/child.ts';
import { pause, waitUntil } from './testing/lab.ts';

const QUEUE = 'shared';

function open() {
  const folder = mkdtempSync(join(tmpdir(), 'bullmq-sqlite-'));
  const sqlite = openSqliteQueues({ file: join(folder, 'queue.db') });
  const queue = new Queue(QUEUE, { connection: {} }, sqlite.backend);
  onTestFinished(async () => {
    await queue.close();
    sqlite.close();
    rmSync(folder, { recursive: true });
  });
  return { sqlite, queue };
}

/** Starts another process with a task on the same file. */
function start(task: ChildTask): { child: ChildProcess; news: ChildMessage[] } {
  const child = fork(new URL('./testing/child.ts', import.meta.url));
  const news: ChildMessage[] = [];
  child.on('message', (message) => news.push(message as ChildMessage));
  child.send(task);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return { child, news };
}

/** Starts a process that takes `count` jobs, and kills it while they are active. */
async function leaveActive(file: string, count: number): Promise<void> {
  const { child, news } = start({ do: 'hang', file, queue: QUEUE });
  await waitUntil(() => news.filter((item) => item.what === 'started').length === count);
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('a process killed with SIGKILL while its jobs are active', () => {
  test('does not lose jobs: releaseOrphans immediately puts its jobs first in line, in order', async () => {
    const { sqlite, queue } = open();
    await queue.addBulk(['a', 'b', 'c'].map((name) => ({ name, data: { name } })));
    await leaveActive(sqlite.file, 3);
    await queue.add('d', {});
    expect(await queue.getJobCounts('active', 'waiting')).toEqual({ active: 3, waiting: 1 });
    expect(sqlite.releaseOrphans().map(({ jobId }) => jobId)).toEqual(['1', '2', '3']);
    expect(sqlite.releaseOrphans()).toEqual([]);
    const started: string[] = [];
    const worker = new Worker(
      QUEUE,
      async (job) => {
        started.push(job.name);
      },
      { connection: {} },
      sqlite.backend,
    );
    await waitUntil(() => started.length === 4);
    await worker.close();
    expect(started).toEqual(['a', 'b', 'c', 'd']);
    expect((await queue.getJob('1'))?.stalledCounter).toBe(1);
  });

  test('keeps its jobs while the file is open elsewhere: releaseOrphans refuses', async () => {
    const { sqlite, queue } = open();
    await queue.add('a', {});
    const { child, news } = start({ do: 'hang', file: sqlite.file, queue: QUEUE });
    await waitUntil(() => news.some(({ what }) => what === 'started'));
    const refusal = expect.objectContaining({ code: 'queue-file-shared', retryable: false });
    expect(() => sqlite.releaseOrphans()).toThrow(refusal);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const again = openSqliteQueues({ file: sqlite.file });
    expect(() => sqlite.releaseOrphans()).toThrow(refusal);
    again.close();
    expect(sqlite.releaseOrphans()).toHaveLength(1);
  });

  test('keeps the follow-up that was added while its job was active', async () => {
    const { sqlite, queue } = open();
    const deduplication = { id: 'chat', keepLastIfActive: true };
    await queue.add('kick', { n: 1 }, { deduplication });
    await leaveActive(sqlite.file, 1);
    await queue.add('kick', { n: 2 }, { deduplication });
    sqlite.releaseOrphans();
    const seen: unknown[] = [];
    const worker = new Worker(
      QUEUE,
      async (job) => {
        seen.push(job.data);
      },
      { connection: {} },
      sqlite.backend,
    );
    await waitUntil(() => seen.length === 2);
    await pause(30);
    await worker.close();
    expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test('does not restart a job forever: a job left active too often fails instead', async () => {
    const { sqlite, queue } = open();
    await queue.add('crasher', {});
    await leaveActive(sqlite.file, 1);
    sqlite.releaseOrphans({ maxStalledCount: 1 });
    await leaveActive(sqlite.file, 1);
    sqlite.releaseOrphans({ maxStalledCount: 1 });
    let runs = 0;
    const worker = new Worker(
      QUEUE,
      async () => {
        runs += 1;
      },
      { connection: {} },
      sqlite.backend,
    );
    await waitUntil(async () => (await queue.getFailedCount()) === 1);
    await worker.close();
    expect(runs).toBe(0);
  });

  test('lets another process run its jobs after the locks expire', async () => {
    const { sqlite, queue } = open();
    await queue.add('a', {});
    await leaveActive(sqlite.file, 1);
    // The crashed worker's lock lasts 30 s, BullMQ's default; the clock has already passed that
    // time.
    sqlite.close();
    const later = openSqliteQueues({ file: sqlite.file, clock: () => Date.now() + 40_000 });
    onTestFinished(() => later.close());
    let runs = 0;
    const worker = new Worker(
      QUEUE,
      async () => {
        runs += 1;
      },
      { connection: {}, stalledInterval: 50 },
      later.backend,
    );
    onTestFinished(() => worker.close(true));
    // The check for stalled jobs also uses the file's clock, so it is due only after that clock has
    // advanced.
    await waitUntil(() => runs === 1);
  });
});

describe('several processes on one file', () => {
  test('together run every job exactly once', async () => {
    const { sqlite, queue } = open();
    const workers = [1, 2].map(() => start({ do: 'work', file: sqlite.file, queue: QUEUE }));
    await waitUntil(() => workers.every(({ news }) => news.some(({ what }) => what === 'ready')));
    for (let n = 0; n < 300; n += 1) await queue.add(`job-${n}`, {});
    await waitUntil(async () => (await queue.getCompletedCount()) === 300);
    const started = () =>
      workers.flatMap(({ news }) => news).filter((item) => item.what === 'started');
    await waitUntil(() => started().length >= 300);
    expect(new Set(started().map(({ jobId }) => jobId)).size).toBe(300);
    expect((await queue.getCompleted()).filter((job) => job.attemptsStarted !== 1)).toEqual([]);
  });

  test('never run two jobs with the same deduplication id at the same time', async () => {
    const { sqlite, queue } = open();
    const active = new Set<string>();
    let overlaps = 0;
    const worker = new Worker(
      QUEUE,
      async (job) => {
        if (active.has(job.name)) overlaps += 1;
        active.add(job.name);
        await pause(2);
        active.delete(job.name);
      },
      { connection: {}, concurrency: 20 },
      sqlite.backend,
    );
    const producers = [1, 2].map(() =>
      start({ do: 'produce', file: sqlite.file, queue: QUEUE, count: 40 }),
    );
    await waitUntil(() => producers.every(({ news }) => news.some(({ what }) => what === 'done')));
    await waitUntil(async () => (await queue.getJobCountByTypes('waiting', 'active')) === 0);
    await worker.close();
    expect(overlaps).toBe(0);
    expect(await queue.getFailedCount()).toBe(0);
    // Every deduplication id was released, so none stays claimed.
    for (let chat = 0; chat < 10; chat += 1) {
      expect(await queue.getDeduplicationJobId(`chat-${chat}`)).toBeNull();
    }
  });

  test('deliver events to listeners in other processes', async () => {
    const { sqlite, queue } = open();
    const { news } = start({ do: 'work', file: sqlite.file, queue: QUEUE });
    await waitUntil(() => news.some(({ what }) => what === 'ready'));
    const job = await queue.add('far', {});
    await waitUntil(async () => (await job.getState()) === 'completed');
    const { QueueEvents } = await import('bullmq');
    const events = new QueueEvents(QUEUE, { connection: {}, lastEventId: '0-0' }, sqlite.backend);
    onTestFinished(() => events.close());
    const heard: string[] = [];
    events.on('completed', ({ jobId }) => heard.push(jobId));
    const second = await queue.add('far too', {});
    await waitUntil(() => heard.length === 2);
    expect(heard).toEqual([job.id, second.id]);
  });
});
