import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { QueueFile } from './queue-file.ts';

const OPTIONS = { synchronous: 'normal', busyTimeoutMs: 1_000, events: false } as const;
const COUNT = 'SELECT count(*) AS n FROM queue WHERE name <> ?';
const ADD = 'INSERT INTO queue (name) VALUES (?)';

function open(path: string): QueueFile {
  const file = new QueueFile(path, OPTIONS);
  onTestFinished(() => file.close());
  return file;
}

const count = (file: QueueFile, without = '') => file.getAgain<{ n: number }>(COUNT, without)?.n;

it('queries again after a write, even inside a transaction that is rolled back', () => {
  const file = open(':memory:');
  expect(count(file)).toBe(0);
  file.run(ADD, 'a');
  expect(count(file)).toBe(1);
  expect(count(file, 'a')).toBe(0);
  expect(count(file)).toBe(1);
  const undone = () =>
    file.transaction(() => {
      file.get(`${ADD} RETURNING id`, 'b');
      expect(count(file)).toBe(2);
      throw new Error('undone');
    });
  expect(undone).toThrow('undone');
  expect(count(file)).toBe(1);
});

it('does not query again without a write', () => {
  const file = open(':memory:');
  const first = file.getAgain(COUNT, '');
  file.transaction(() => file.get(COUNT, ''));
  expect(file.getAgain(COUNT, '')).toBe(first);
});

it('always queries a file on disk, because another process may have written it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'queue-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [one, other] = [open(join(folder, 'q.db')), open(join(folder, 'q.db'))];
  expect(count(one)).toBe(0);
  other.run(ADD, 'a');
  expect(count(one)).toBe(1);
});

describe('transactions in the same event loop turn', () => {
  const failure = new Error('undone');
  const fail = () => {
    throw failure;
  };

  it('share one commit, and each failure rolls back only its own changes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'queue-file-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [file, other] = [open(join(folder, 'q.db')), open(join(folder, 'q.db'))];
    const before = other.foreignChanges();
    const add = (name: string, after = () => {}) =>
      file.groupedTransaction(() => {
        file.run(ADD, name);
        after();
        return name;
      });
    const settled = await Promise.allSettled([add('x', fail), add('a'), add('b', fail), add('c')]);
    expect(settled).toEqual([
      { status: 'rejected', reason: failure },
      { status: 'fulfilled', value: 'a' },
      { status: 'rejected', reason: failure },
      { status: 'fulfilled', value: 'c' },
    ]);
    const names = other.all<{ name: string }>('SELECT name FROM queue ORDER BY name');
    expect(names.map(({ name }) => name)).toEqual(['a', 'c']);
    expect(other.foreignChanges()).not.toBe(before);
  });

  it('are committed before a separate transaction or snapshot, and before the file is closed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'queue-file-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [file, other] = [open(join(folder, 'q.db')), open(join(folder, 'q.db'))];
    const seen: (number | undefined)[] = [];
    const first = file.groupedTransaction(() => file.run(ADD, 'a'));
    seen.push(file.snapshot(() => count(other)));
    const second = file.groupedTransaction(() => file.run(ADD, 'b'));
    seen.push(file.transaction(() => count(other)));
    const third = file.groupedTransaction(() => file.run(ADD, 'c'));
    file.close();
    await Promise.all([first, second, third]);
    expect([...seen, count(other)]).toEqual([1, 2, 3]);
  });

  it('report a full disk, and store nothing for rejected calls', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'queue-file-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = open(join(folder, 'q.db'));
    const pages = file.get<{ page_count: number }>('PRAGMA page_count')?.page_count ?? 0;
    file.get(`PRAGMA max_page_count = ${pages + 8}`);
    const add = (name: string) => file.groupedTransaction(() => file.run(ADD, name.padEnd(6_000)));
    const settled = [];
    for (let round = 0; round < 4; round += 1) {
      settled.push(...(await Promise.allSettled([add(`${round} one`), add(`${round} two`)])));
    }
    const rejected = settled.filter((one) => one.status === 'rejected');
    expect(rejected.length).toBeGreaterThan(0);
    for (const { reason } of rejected) {
      expect(reason).toMatchObject({
        name: 'SqliteQueueError',
        code: 'queue-disk-full',
        retryable: true,
      });
    }
    expect(count(file)).toBe(settled.length - rejected.length);
    file.get('PRAGMA max_page_count = 10000');
    expect(await add('again')).toBe(1);
  });
});

it('counts the finished jobs in a file that had no stored counts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'queue-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'q.db');
  const older = open(path);
  older.run('DROP TRIGGER job_finishes');
  older.run('DROP TRIGGER job_restarts');
  older.run('DROP TRIGGER finished_job_goes');
  older.run('DROP TABLE kept');
  const job = `INSERT INTO job (queue_id, id, state, rank, name, data, opts, timestamp)
    VALUES (1, ?, ?, 1, 'job', '{}', '{}', 1)`;
  const states = ['completed', 'completed', 'failed', 'waiting'];
  for (const [at, state] of states.entries()) older.run(job, `job ${at}`, state);
  older.close();
  const file = open(path);
  const kept = () => file.all('SELECT state, jobs FROM kept ORDER BY state');
  expect(kept()).toEqual([
    { state: 'completed', jobs: 2 },
    { state: 'failed', jobs: 1 },
  ]);
  file.run("UPDATE job SET state = 'completed' WHERE state IN ('waiting', 'failed')");
  file.run('DELETE FROM job WHERE seq = 1');
  expect(kept()).toEqual([
    { state: 'completed', jobs: 3 },
    { state: 'failed', jobs: 0 },
  ]);
});
