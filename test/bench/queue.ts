import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import {
  type BackendFactory,
  createRedisBackend,
  type IQueueBackend,
  Queue,
  type RedisOptions,
  Worker,
} from 'bullmq';
import { openSqliteQueues } from 'bullmq-sqlite';
import {
  computeQuantile,
  formatRounded,
  type RoundSummary,
  renderTable,
  summarizeRounds,
} from './report.ts';
import type { BenchRounds } from './rounds.ts';
import { startRedisSide } from './servers.ts';
import { withNewFolder } from './subjects.ts';

/** The number of completed jobs that are already in the file for the last two columns. */
const KEPT = 1_000_000;
const AT_ONCE = 50;

/** A storage for BullMQ's queues. */
interface QueueStorage {
  readonly name: string;
  readonly backend: BackendFactory<IQueueBackend>;
  readonly connection: RedisOptions;
}

const MEASURES = [
  'added a second, 50 at a time',
  'done a second, one at a time',
  'done a second, 50 at a time',
  'ms from add to start, median',
  'ms from add to start, 95 of 100',
] as const;

/** The measures of each storage, over the rounds. */
export type QueueFigures = readonly { readonly place: string; readonly measures: RoundSummary[] }[];

/**
 * BullMQ on Redis (append-only file, synced every second) and on SQLite, in one process,
 * alternating.
 */
export async function measureQueue({ repetitions }: BenchRounds): Promise<QueueFigures> {
  await using redis = await startRedisSide().then((side) => ({
    ...side,
    [Symbol.asyncDispose]: side.close,
  }));
  return await withNewFolder(async (folder) => {
    const open = (file: string) => openSqliteQueues({ file, synchronous: 'normal' });
    using empty = open(join(folder, 'empty.db'));
    using memory = open(':memory:');
    using full = open(join(folder, 'full.db'));
    const places: QueueStorage[] = [
      {
        name: 'Redis',
        backend: createRedisBackend,
        connection: { url: redis.url } as RedisOptions,
      },
      { name: 'a file', backend: empty.backend, connection: {} },
      { name: 'in memory', backend: memory.backend, connection: {} },
      { name: 'a file with a million kept jobs', backend: full.backend, connection: {} },
    ];
    insertCompletedJobs(join(folder, 'full.db'));
    const rounds: number[][][] = places.map(() => []);
    for (let count = 0; count < ROUNDS; count += 1) {
      for (const [at, place] of places.entries()) {
        rounds[at]?.push(await measureStorage(place, repetitions));
      }
    }
    return places.map(({ name }, at) => ({
      place: name,
      measures: MEASURES.map((_, measure) =>
        summarizeRounds(rounds[at]?.map((one) => one[measure] ?? 0) ?? []),
      ),
    }));
  });
}

/** The first round is for warming up; the median over all rounds is used. */
const ROUNDS = 5;

async function measureStorage(
  { backend, connection }: QueueStorage,
  repetitions: number,
): Promise<number[]> {
  const queue = openQueue({ backend, connection });
  const jobs = repetitions * 25;
  const few = repetitions * 5;
  const add = (count: number) => addJobs(queue, count);
  await add(few);
  const single = await drainQueue({ backend, connection, queue, concurrency: 1, jobs: few });
  const added = await measureSeconds(() => add(jobs));
  const many = await drainQueue({ backend, connection, queue, concurrency: AT_ONCE, jobs });
  const latencies = await measureLatencies({ backend, connection, queue, repetitions });
  await queue.close();
  return [
    jobs / added,
    few / single,
    jobs / many,
    computeQuantile(latencies, 0.5),
    computeQuantile(latencies, 0.95),
  ];
}

const openQueue = ({ backend, connection }: Omit<QueueStorage, 'name'>) =>
  new Queue('bench', { connection }, backend);

interface QueueRun extends Omit<QueueStorage, 'name'> {
  readonly queue: ReturnType<typeof openQueue>;
}

async function addJobs(queue: ReturnType<typeof openQueue>, count: number): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => queue.add('job', { number: done })));
  }
}

/** Seconds until `jobs` of the waiting jobs are done. */
async function drainQueue(run: QueueRun & { concurrency: number; jobs: number }): Promise<number> {
  const { backend, connection, queue, concurrency, jobs } = run;
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = jobs;
  const work = async () => {
    left -= 1;
    if (left === 0) resolve();
  };
  const worker = new Worker(queue.name, work, { connection, concurrency, autorun: false }, backend);
  await worker.waitUntilReady();
  const taken = await measureSeconds(async () => {
    void worker.run();
    await promise;
  });
  await worker.close();
  return taken;
}

/** Ms from the call of `add` to the start of the job, one job at a time. */
async function measureLatencies(run: QueueRun & { repetitions: number }): Promise<number[]> {
  const { backend, connection, queue, repetitions } = run;
  await queue.drain();
  let started: (() => void) | undefined;
  const worker = new Worker(queue.name, async () => started?.(), { connection }, backend);
  await worker.waitUntilReady();
  const latencies: number[] = [];
  for (let count = 0; count < repetitions; count += 1) {
    const { promise, resolve } = Promise.withResolvers<void>();
    started = resolve;
    const begun = performance.now();
    void queue.add('job', { count });
    await promise;
    latencies.push(performance.now() - begun);
    // Gives the worker time to wait for jobs again.
    await new Promise((wake) => setTimeout(wake, 5));
    await turn();
  }
  await worker.close();
  return latencies;
}

async function measureSeconds(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1_000;
}

/** Completed jobs, inserted by SQL: adding them normally would take minutes. */
function insertCompletedJobs(file: string): void {
  using database = new DatabaseSync(file);
  database.exec('BEGIN IMMEDIATE');
  const { id } = database
    .prepare('INSERT INTO queue (name) VALUES (?) RETURNING id')
    .get('bull:bench') as {
    id: number;
  };
  database
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${KEPT})
       INSERT INTO job (queue_id, id, state, rank, name, data, opts, timestamp, finished_on)
       SELECT ?, 'kept-' || i, 'completed', 1700000000000 + i, 'job', '{}', '{}', 1700000000000, 1700000000000 + i FROM n`,
    )
    .run(id);
  database.exec('COMMIT');
}

export function renderQueue(figures: QueueFigures): string {
  return [
    '### BullMQ on Redis and on SQLite',
    renderTable([
      ['', ...figures.map(({ place }) => place)],
      ...MEASURES.map((measure, at) => [
        measure,
        ...figures.map(({ measures }) => formatRounded(measures[at]?.median ?? 0)),
      ]),
    ]),
  ].join('\n\n');
}
