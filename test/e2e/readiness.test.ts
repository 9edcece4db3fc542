import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type FaultyProxy, startFaultyProxy } from '../services/faulty-proxy.ts';
import { findFreePort } from '../services/free-port.ts';
import { createFreshDatabase, type FreshDatabase } from '../services/fresh-database.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder, runCommand } from './parley-process.ts';
import { ANN, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];

describe.runIf(redisUrl && postgresUrl)('a process without its database or queue', () => {
  let database: FreshDatabase;
  let postgres: FaultyProxy;
  let redis: FaultyProxy;
  let folder: DataFolder;
  let parley: TestParley;
  beforeEach(async () => {
    database = await createFreshDatabase(postgresUrl ?? '');
    postgres = await startFaultyProxy(database.url);
    redis = await startFaultyProxy(redisUrl ?? '');
    folder = makeDataFolder({
      model: 'offline',
      http: { port: 0 },
      store: { url: postgres.url },
      queue: { url: redis.url, prefix: `test-${randomBytes(8).toString('hex')}` },
    });
    parley = await startParleyInProcess(folder.path);
  });
  afterEach(async () => {
    await parley.discard();
    await Promise.all([postgres.close(), redis.close()]);
    await database.drop();
    folder.remove();
  });

  async function ready(): Promise<string> {
    const response = await fetch(`${parley.address}/readyz`);
    return `${response.status} ${(await response.text()).trim()}`;
  }
  async function gauge(name: string): Promise<number | null> {
    const headers = { authorization: `Bearer ${parley.token}` };
    const text = await (await fetch(`${parley.address}/metrics`, { headers })).text();
    const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
    return value === undefined ? null : Number(value);
  }
  const becomes = (words: string) => expect.poll(ready).toBe(words);

  it('[D10] reports that it is alive but not ready, with the reason, and becomes ready again afterwards', async () => {
    await becomes('200 ready');
    expect(await gauge('parley_database_up')).toBe(1);
    await redis.cut();
    await becomes('503 down: the queue does not answer');
    expect((await fetch(`${parley.address}/healthz`)).status).toBe(200);
    expect(await gauge('parley_database_up')).toBe(1);
    await redis.restore();
    await becomes('200 ready');
    await postgres.cut();
    await becomes('503 down: the database does not answer');
    expect((await fetch(`${parley.address}/healthz`)).status).toBe(200);
    expect(await gauge('parley_database_up')).toBe(0);
    await postgres.restore();
    await becomes('200 ready');
    expect(await gauge('parley_database_up')).toBe(1);
  });
});

describe('a SQLite file with garbled pages', () => {
  let scene: TelegramScene;
  beforeEach(async () => {
    // The process keeps its port across a restart.
    scene = await startTelegramScene({}, { http: { port: await findFreePort() } });
  });
  afterEach(() => scene.close());

  it('[D10] is detected by the first turn that fails, and reported everywhere with recovery instructions', async () => {
    const data = ['--data', scene.folder.path];
    const backup = join(scene.folder.path, 'backup.tar.gz');
    scene.telegram.say({ chat: ANN, text: 'before' });
    await scene.untilAnswers(ANN, 1);
    expect((await runCommand([...data, 'backup', backup])).code).toBe(0);
    await scene.parley.end();
    garble(join(scene.folder.path, 'parley.db'), 'transcript');
    // Runs in a process of its own, because the restore ends it.
    const apart = await scene.startApart();
    const ready = async () => {
      const response = await fetch(`${scene.parley.address}/readyz`).catch(() => null);
      return response && `${response.status} ${(await response.text()).trim()}`;
    };
    scene.telegram.say({ chat: ANN, text: 'on a garbled page' });
    await expect.poll(ready).toBe('503 down: the database is damaged');
    const told = scene.parley.err().match(/"level":"error".*is damaged.*parley restore FILE/g);
    expect(told).toHaveLength(1);
    const status = await runCommand([...data, 'status']);
    expect(status.code).toBe(1);
    expect(status.out).toContain('health    down; the database is damaged');
    expect(status.out).toMatch(/^database {2}.*is damaged.*parley restore FILE/m);

    expect((await runCommand([...data, 'restore', backup, '--yes'])).code).toBe(0);
    expect(await apart.over()).toMatchObject({ code: 0 });
    await scene.startAgain();
    await expect.poll(ready).toBe('200 ready');
    scene.telegram.say({ chat: ANN, text: 'after' });
    await scene.telegram.waitFor(() => scene.answers(ANN).includes('You said: after'));
  });
});

/** Overwrites the first page of a table. */
function garble(path: string, table: string): void {
  const sqlite = new DatabaseSync(path);
  const row = sqlite.prepare('select rootpage from sqlite_master where name = ?').get(table);
  const size = sqlite.prepare('pragma page_size').get();
  sqlite.close();
  const bytes = Number(size?.page_size);
  const file = openSync(path, 'r+');
  writeSync(file, randomBytes(bytes), 0, bytes, (Number(row?.rootpage) - 1) * bytes);
  closeSync(file);
}
