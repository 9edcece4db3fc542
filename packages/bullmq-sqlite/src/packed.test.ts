import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);
/** A folder that represents a machine with npm but without this repository. */
let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bullmq-sqlite-packed-'));
  // A copy is packed, because packing writes into the package while other tests use it.
  const copy = join(folder, 'copy/packages/bullmq-sqlite');
  mkdirSync(copy, { recursive: true });
  for (const name of ['README.md', 'package.json', 'tsconfig.build.json', 'src']) {
    cpSync(join(import.meta.dirname, '..', name), join(copy, name), { recursive: true });
  }
  for (const name of ['LICENSE', 'tsconfig.json']) {
    cpSync(join(ROOT, name), join(folder, 'copy', name));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'copy/node_modules'));
  await run('npm', ['pack', '--pack-destination', folder], { cwd: copy });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const { version } = JSON.parse(
    readFileSync(join(ROOT, 'node_modules/bullmq/package.json'), 'utf8'),
  );
  const packages = ['./bullmq-sqlite-0.1.0.tgz', `bullmq@${version}`];
  const quiet = ['--prefer-offline', '--ignore-scripts', '--loglevel=error'];
  await run('npm', ['install', ...quiet, ...packages], { cwd: folder });
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a module in that folder and returns its output. */
async function outputOf(name: string, source: string, ...args: string[]): Promise<string> {
  writeFileSync(join(folder, name), source);
  return (await run(process.execPath, [name, ...args], { cwd: folder, timeout: 60_000 })).stdout;
}

describe('the packed bullmq-sqlite', () => {
  it('contains JavaScript with types, a license and a README, and needs BullMQ as a peer', () => {
    const packed = join(folder, 'node_modules/bullmq-sqlite');
    const files = readdirSync(packed, { recursive: true }).map(String);
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist/index.d.ts']));
    expect(files.filter((file) => /(?<!\.d)\.ts$|test|conformance/.test(file))).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ license: 'MIT', peerDependencies: { bullmq: '~6.7.0' } });
    expect(manifest).not.toHaveProperty('dependencies');
  });

  it('runs the first example of its README as written', async () => {
    const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
    const [, example = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(await outputOf('example.js', example)).toBe('welcome: ann\n');
  });

  it("runs BullMQ's documented features in one process", async () => {
    const printed = await outputOf('one-process.js', ONE_PROCESS);
    expect(JSON.parse(printed)).toEqual({
      'a result': 'painted red',
      progress: [42],
      'retries with backoff': { attemptsMade: 3, returnvalue: 'ok' },
      'priorities and LIFO': ['last in', 'urgent', 'normal', 'later'],
      delayed: true,
      deduplicated: true,
      'a failure': 'broken',
      'scheduled runs': 3,
      'bulk and counts': { waiting: 2, completed: 0 },
      'paused, resumed': [true, false],
      flows: 'not-supported',
    });
  });

  it("runs BullMQ's documented features in two processes: a job starts and its result is returned", async () => {
    writeFileSync(join(folder, 'worker.js'), WORKER);
    const worker = spawn(process.execPath, ['worker.js'], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(worker.stdout, 'data');
    const printed = await outputOf('producer.js', PRODUCER);
    worker.stdin.end();
    const [code] = await once(worker, 'close');
    expect([JSON.parse(printed), code]).toEqual([
      { results: [1, 4, 9, 16], completed: 4, refused: 'queue-file-shared' },
      0,
    ]);
  });

  it('ships types that compile in a strict project', async () => {
    mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
    symlinkSync(join(ROOT, 'node_modules/undici-types'), join(folder, 'node_modules/undici-types'));
    writeFileSync(
      join(folder, 'typed.ts'),
      `import { Queue } from 'bullmq';
       import { openSqliteQueues, SqliteQueueError, type SqliteQueues } from 'bullmq-sqlite';
       const sqlite: SqliteQueues = openSqliteQueues({ file: 'x.db', synchronous: 'full' });
       export const queue = new Queue('q', { connection: {} }, sqlite.backend);
       export const isFull = (error: unknown) => error instanceof SqliteQueueError && error.code === 'queue-disk-full';
       // @ts-expect-error: no such option
       openSqliteQueues({ path: 'x.db' });`,
    );
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--target',
      'es2024',
      '--types',
      'node',
    ];
    for (const [module, resolution] of [
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ] as const) {
      const args = [...options, '--module', module, '--moduleResolution', resolution, 'typed.ts'];
      const compiler = join(ROOT, 'node_modules/.bin/tsc');
      const { stdout } = await run(compiler, ['--ignoreConfig', ...args], { cwd: folder }).catch(
        (error: { stdout: string }) => error,
      );
      expect(stdout).toBe('');
    }
  });
});

const OPEN = `
import { Queue, QueueEvents, Worker, FlowProducer } from 'bullmq';
import { openSqliteQueues } from 'bullmq-sqlite';
const connection = {};
`;

/**
 * Based on the pages about jobs, events, retrying, priorities, delayed jobs, deduplication,
 * schedulers and flows on docs.bullmq.io.
 */
const ONE_PROCESS = `${OPEN}
const sqlite = openSqliteQueues({ file: 'one.db' });
const open = (name) => new Queue(name, { connection }, sqlite.backend);
const work = (name, processor, options) =>
  new Worker(name, processor, { connection, ...options }, sqlite.backend);
const seen = {};
const closing = [];

const paint = open('paint');
const events = new QueueEvents('paint', { connection }, sqlite.backend);
await events.waitUntilReady();
const progress = [];
events.on('progress', ({ data }) => progress.push(data));
const painter = work('paint', async (job) => {
  if (job.name === 'flaky' && job.attemptsMade < 2) throw new Error('not yet');
  if (job.name === 'broken') throw new Error('broken');
  await job.updateProgress(42);
  return job.name === 'flaky' ? 'ok' : 'painted ' + job.data.color;
});
const car = await paint.add('cars', { color: 'red' });
seen['a result'] = await car.waitUntilFinished(events);
seen.progress = [...progress];
const backoff = { type: 'exponential', delay: 5 };
const flaky = await paint.add('flaky', {}, { attempts: 5, backoff });
await flaky.waitUntilFinished(events);
const { attemptsMade, returnvalue } = await paint.getJob(flaky.id);
seen['retries with backoff'] = { attemptsMade, returnvalue };

const ordered = open('ordered');
await ordered.add('normal', {}, { priority: 5 });
await ordered.add('later', {}, { priority: 10 });
await ordered.add('urgent', {}, { priority: 1 });
await ordered.add('last in', {}, { lifo: true });
const order = [];
const all = Promise.withResolvers();
const sorter = work('ordered', async (job) => { order.push(job.name); if (order.length === 4) all.resolve(); });
await all.promise;
seen['priorities and LIFO'] = order;

const before = Date.now();
const delayed = await paint.add('delayed', { color: 'blue' }, { delay: 60 });
await delayed.waitUntilFinished(events);
seen.delayed = Date.now() - before >= 60;
const once = { deduplication: { id: 'house', ttl: 5_000 } };
const [first, second] = [await paint.add('house', {}, once), await paint.add('house', {}, once)];
seen.deduplicated = first.id === second.id;
const broken = await paint.add('broken', {});
seen['a failure'] = await broken.waitUntilFinished(events).catch((error) => error.message);

const ticks = open('ticks');
let runs = 0;
const three = Promise.withResolvers();
const ticker = work('ticks', async () => { runs += 1; if (runs === 3) three.resolve(); });
await ticks.upsertJobScheduler('tick', { every: 30, limit: 3 });
await three.promise;
seen['scheduled runs'] = runs;

const bulk = open('bulk');
await bulk.addBulk([{ name: 'a', data: {} }, { name: 'b', data: {} }]);
seen['bulk and counts'] = await bulk.getJobCounts('waiting', 'completed');
await bulk.pause();
const paused = await bulk.isPaused();
await bulk.resume();
seen['paused, resumed'] = [paused, await bulk.isPaused()];
const flow = { name: 'root', queueName: 'bulk', children: [{ name: 'child', queueName: 'bulk' }] };
const flows = () => new FlowProducer({ connection }, sqlite.backend).add(flow);
seen.flows = await Promise.resolve().then(flows).catch((error) => error.code);

for (const one of [painter, sorter, ticker, events, paint, ordered, ticks, bulk]) await one.close();
sqlite.close();
console.log(JSON.stringify(seen));
`;

const WORKER = `${OPEN}
const sqlite = openSqliteQueues({ file: 'two.db' });
const worker = new Worker('squares', async (job) => job.data.number ** 2, { connection, concurrency: 4 }, sqlite.backend);
await worker.waitUntilReady();
console.log('ready');
process.stdin.resume().once('end', async () => { await worker.close(); sqlite.close(); });
`;

const PRODUCER = `${OPEN}
const sqlite = openSqliteQueues({ file: 'two.db' });
const queue = new Queue('squares', { connection }, sqlite.backend);
const events = new QueueEvents('squares', { connection }, sqlite.backend);
await events.waitUntilReady();
const jobs = await queue.addBulk([1, 2, 3, 4].map((number) => ({ name: 'square', data: { number } })));
const results = await Promise.all(jobs.map((job) => job.waitUntilFinished(events)));
let refused;
try { sqlite.releaseOrphans(); } catch (error) { refused = error.code; }
console.log(JSON.stringify({ results, completed: await queue.getCompletedCount(), refused }));
await events.close();
await queue.close();
sqlite.close();
`;
