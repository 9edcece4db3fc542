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

it('asks again once something was written, in a transaction that is undone, too', () => {
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

it('does not ask again while nothing was written', () => {
  const file = open(':memory:');
  const first = file.getAgain(COUNT, '');
  file.transaction(() => file.get(COUNT, ''));
  expect(file.getAgain(COUNT, '')).toBe(first);
});

it('always asks a file on disk, which another process may write', () => {
  const folder = mkdtempSync(join(tmpdir(), 'queue-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [one, other] = [open(join(folder, 'q.db')), open(join(folder, 'q.db'))];
  expect(count(one)).toBe(0);
  other.run(ADD, 'a');
  expect(count(one)).toBe(1);
});

describe('transactions of one turn', () => {
  const failure = new Error('undone');
  const fail = () => {
    throw failure;
  };

  it('are one commit, in which each takes back only its own', async () => {
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

  it('are stored when a transaction of its own, a question or the end of the file comes between', async () => {
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

  it('say when the disk is full, and store nothing of what they reject', async () => {
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

it('counts the finished jobs of a file from before it counted them', () => {
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
