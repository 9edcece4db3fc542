import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { type Deployment, GATEWAY_FOLDERS, WORKER_FOLDERS } from './deployment.ts';
import { SupervisedProcess } from './kept-alive.ts';
import { startKillablePostgres, startKillableRedis } from './killable-server.ts';
import {
  ENDED,
  GIVEN_UP,
  MAX_BEGUN,
  readCount,
  readEnded,
  type StoredQueries,
  UNFINISHED,
} from './stored.ts';
import type { VictimReport, VictimRole } from './victim-order.ts';

/** The secret of the web page, shared by all gateways of an installation. */
const TOKEN = 'a-token-that-all-gateways-of-the-crash-matrix-share';

/** Two gateways and two workers with a dedicated PostgreSQL and Redis. */
export async function openDistributed(
  root: string,
  settings: object,
  hear: (report: VictimReport) => void,
): Promise<Deployment> {
  const [postgres, redis] = await Promise.all([startKillablePostgres(), startKillableRedis()]);
  const workspace = join(root, 'workspace');
  const shared = {
    ...settings,
    store: { url: postgres.url },
    queue: { url: redis.url },
    agent: { workspace },
  };
  const keptAlive = (name: string, role: VictimRole): SupervisedProcess => {
    const folder = join(root, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'parley.yaml'), JSON.stringify(shared));
    writeFileSync(join(folder, 'token'), TOKEN, { mode: 0o600 });
    return new SupervisedProcess(name, { folder, role }, hear);
  };
  const processes = [
    ...GATEWAY_FOLDERS.map((name) => keptAlive(name, 'gateway')),
    ...WORKER_FOLDERS.map((name) => keptAlive(name, 'worker')),
  ];
  return {
    name: 'distributed',
    processes,
    servers: [postgres, redis],
    stored: createStoredQueries(postgres.url),
    async close() {
      for (const one of processes) one.abandon();
      await Promise.all([postgres.close(), redis.close()]);
    },
  };
}

function createStoredQueries(url: string): StoredQueries {
  const count = async (sql: string): Promise<number | null> => {
    try {
      return await runQuery(url, sql, ([row]) => readCount(row));
    } catch {
      // The tables may not exist yet.
      return null;
    }
  };
  return {
    unfinished: () => count(UNFINISHED),
    mostBegun: () => count(MAX_BEGUN),
    givenUp: () => count(GIVEN_UP),
    endedParts: () => runQuery(url, ENDED, readEnded),
  };
}

async function runQuery<T>(url: string, sql: string, read: (rows: unknown[]) => T): Promise<T> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return read(rows);
  } finally {
    await client.end();
  }
}
