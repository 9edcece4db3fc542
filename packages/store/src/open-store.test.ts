import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from './open-store.ts';
import { createMessage } from './testing/messages.ts';

const clock = () => 0;

describe('opening a store', () => {
  let folder: string;
  let path: string;
  const open = (url: string) => openStore({ url, clock });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-open-'));
    path = join(folder, 'data', 'parley.db');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('creates a folder and files that only their owner can access', async () => {
    const store = await open(`sqlite:${path}`);
    await store.inbox.accept(createMessage('m1'));
    expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) {
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    await store.close();
  });

  it("removes other users' read permission from an older file", async () => {
    mkdirSync(join(folder, 'data'));
    writeFileSync(path, '', { mode: 0o644 });
    await (await open(`sqlite:${path}`)).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('supports an in-memory store for tests and tools', async () => {
    const store = await open('sqlite::memory:');
    expect(await store.inbox.accept(createMessage('m1'))).toBe('stored');
    await store.close();
  });

  it.each([
    ['mysql://host/db', 'does not start with a known scheme'],
    ['sqlite:relative/parley.db', 'not absolute'],
    ['postgres://user:hunter2@ho st/db', 'cannot be read'],
  ])(
    'rejects the URL %s and explains the correct form, without repeating secrets',
    async (url, reason) => {
      const refused = await open(url).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: 'store-url',
        message: expect.stringContaining(reason),
      });
      expect(String(refused)).toContain('Write sqlite:/absolute/path');
      expect(String(refused)).not.toContain('hunter2');
    },
  );

  it('leaves a file unchanged if it is not a database', async () => {
    mkdirSync(join(folder, 'data'));
    writeFileSync(path, 'Dear diary, this is not a database at all. '.repeat(200));
    const before = digest(path);
    await expect(open(`sqlite:${path}`)).rejects.toMatchObject({
      code: 'store-damaged',
      message: expect.stringContaining('Restore a backup with'),
    });
    expect(digest(path)).toBe(before);
  });

  it('reports damaged pages when it reads them', async () => {
    const store = await open(`sqlite:${path}`);
    for (let i = 0; i < 50; i += 1) await store.inbox.accept(createMessage(`m${i}`));
    await store.close();
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 4096);
    writeFileSync(path, bytes);
    const reading = open(`sqlite:${path}`).then((opened) =>
      opened.inbox.recent({ channel: 'web', account: 'default', chatId: 'c1' }, 50),
    );
    await expect(reading).rejects.toMatchObject({ code: 'store-damaged', retryable: false });
  });

  it.each([
    ['closed properly', (_sqlite: DatabaseSync) => path],
    ['of a killed process', copyOfKilled],
  ])(
    'leaves a file from a newer Parley, %s, unchanged byte for byte, including side files',
    async (_how, left) => {
      await (await open(`sqlite:${path}`)).close();
      const newer = new DatabaseSync(path);
      newer.exec("insert into parley_migration values (9999, 'future', '7.3.0', 0)");
      const file = left(newer);
      newer.close();
      const before = digests(file);
      const modes = modesIn(dirname(file));
      await expect(open(`sqlite:${file}`)).rejects.toMatchObject({
        code: 'store-newer',
        message: expect.stringMatching(/written by Parley 7\.3\.0.*Update Parley, or use another/),
      });
      expect(digests(file)).toEqual(before);
      expect(modesIn(dirname(file))).toEqual(modes);
    },
  );

  it('reports which path is not writable', async () => {
    writeFileSync(join(folder, 'data'), 'a file where a folder should be');
    await expect(open(`sqlite:${path}`)).rejects.toMatchObject({
      code: 'store-unwritable',
      message: expect.stringContaining(path),
    });
  });

  it('reports a PostgreSQL server that does not answer as a retryable error, without the password', async () => {
    // No server listens on port 1 of this machine.
    const failed = await open('postgres://parley:hunter2@127.0.0.1:1/parley').catch(
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({ code: 'store-unreachable', retryable: true });
    expect(String(failed)).toContain('127.0.0.1:1/parley');
    expect(String(failed)).not.toContain('hunter2');
  });

  it('answers pings while it is open and rejects calls afterwards', async () => {
    const store = await open(`sqlite:${path}`);
    await store.ping();
    await store.close();
    await store.close();
    await expect(store.ping()).rejects.toMatchObject({ code: 'store-closed' });
    await expect(store.inbox.accept(createMessage('m1'))).rejects.toMatchObject({
      code: 'store-closed',
    });
  });

  it('[D01] stores earlier requests before closing', async () => {
    const store = await open(`sqlite:${path}`);
    const accepting = Array.from({ length: 200 }, (_, i) =>
      store.inbox.accept(createMessage(`m${i}`)),
    );
    const counting = store.inbox.waiting('web:c1');
    await store.close();
    expect(new Set(await Promise.all(accepting))).toEqual(new Set(['stored']));
    await counting;
    const again = await open(`sqlite:${path}`);
    expect(await again.inbox.waiting('web:c1')).toBe(200);
    await again.close();
  });
});

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Computes digests of all files beside a database. */
function digests(path: string): Record<string, string> {
  const folder = dirname(path);
  return Object.fromEntries(readdirSync(folder).map((name) => [name, digest(join(folder, name))]));
}

function modesIn(folder: string): readonly number[] {
  return readdirSync(folder).map((name) => statSync(join(folder, name)).mode);
}

/**
 * Copies the database files in the state that a killed process leaves: the last rows are only in
 * the log.
 */
function copyOfKilled(sqlite: DatabaseSync): string {
  const path = sqlite.location() ?? '';
  const folder = join(dirname(path), 'killed');
  mkdirSync(folder);
  for (const end of ['', '-wal', '-shm']) {
    copyFileSync(`${path}${end}`, join(folder, `parley.db${end}`));
  }
  expect(statSync(join(folder, 'parley.db-wal')).size).toBeGreaterThan(0);
  return join(folder, 'parley.db');
}
