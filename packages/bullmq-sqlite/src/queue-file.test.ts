import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
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
