import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BackendFactory, createRedisBackend, type IQueueBackend } from 'bullmq';
import { describe, test } from 'vitest';
import { openSqliteQueues } from '../open-sqlite-queues.ts';
import { Lab } from './lab.ts';

/** `it` with a fresh queue: `it('…', async ({ lab }) => …)`. */
export type LabTest = typeof onSqlite;

/**
 * Declares the same tests for SQLite and for the original, BullMQ on Redis, so that what they expect
 * is shown to be BullMQ's behaviour and not ours. Without a Redis only the SQLite half exists.
 */
export function describeOnBoth(
  title: string,
  redisUrl: string | null,
  behaviours: (it: LabTest) => void,
): void {
  describe.concurrent(`${title} on SQLite`, () => behaviours(onSqlite));
  describe
    .runIf(redisUrl)
    .concurrent(`${title} on Redis`, () => behaviours(onRedis(redisUrl ?? '')));
}

const onSqlite = test.extend<{ lab: Lab }>({
  lab: async ({ task: _ }, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'bullmq-sqlite-'));
    const sqlite = openSqliteQueues({ file: join(folder, 'queue.db') });
    const lab = new Lab({ backend: sqlite.backend, connection: {} });
    await use(lab);
    await lab.close();
    sqlite.close();
    rmSync(folder, { recursive: true });
  },
});

function onRedis(url: string): LabTest {
  const prefix = `test-${randomUUID()}`;
  const backend: BackendFactory<IQueueBackend> = (name, opts, role) =>
    createRedisBackend(name, { ...opts, prefix } as typeof opts, role);
  return test.extend<{ lab: Lab }>({
    lab: async ({ task: _ }, use) => {
      const lab = new Lab({ backend, connection: { url } });
      await use(lab);
      await lab.close();
    },
  });
}
