import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { startPostgres } from '../services/postgres.ts';
import type { ServiceStart } from '../services/provided.ts';
import { startRedis } from '../services/redis.ts';
import { parentOf } from './process-tree.ts';

/** What the servers did since they were started; differences of two readings count. */
export interface ServerCounts {
  /** Commands that Redis carried out, those inside of scripts included. */
  readonly redisCommands: number;
  /** Transactions of PostgreSQL, reads included. */
  readonly transactions: number;
  /** Rows that were inserted, changed or removed. */
  readonly rowsWritten: number;
  /** Bytes of PostgreSQL's write-ahead log. */
  readonly logBytes: number;
  /** Of the database on disk. */
  readonly databaseBytes: number;
}

/** Redis and PostgreSQL of the benchmark's own, as durable as in earnest. */
export interface Servers {
  readonly redisUrl: string;
  readonly postgresUrl: string;
  readonly redisPid: number;
  /** The root of its processes. */
  readonly postgresPid: number;
  counts(): Promise<ServerCounts>;
  close(): Promise<void>;
}

/** PostgreSQL tells its statistics by itself after a second; a session that reads them keeps no copy. */
const STATISTICS_MS = 1_200;

/** Starts both. Throws where the machine has not both programs. */
export async function startServers(): Promise<Servers> {
  const redisStart = await startRedis();
  const redisUrl = addressOf(redisStart);
  const postgresStart = await startPostgres({ fsync: 'on', full_page_writes: 'on' });
  const postgresUrl = addressOf(postgresStart);
  const redis = new Redis(redisUrl);
  const postgres = new Client({ connectionString: postgresUrl });
  await postgres.connect();
  await redis.config('SET', 'appendonly', 'yes');
  await redis.config('SET', 'appendfsync', 'everysec');
  return {
    redisUrl,
    postgresUrl,
    redisPid: Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]),
    postgresPid: parentOf(await backendOf(postgres)),
    async counts() {
      await pause(STATISTICS_MS);
      const redisCommands = Number(
        /total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1],
      );
      return { redisCommands, ...(await databaseCounts(postgres)) };
    },
    async close() {
      redis.disconnect();
      await postgres.end();
      for (const service of [redisStart, postgresStart]) {
        if (service.state === 'ready') await service.stop();
      }
    },
  };
}

function addressOf(service: ServiceStart): string {
  if (service.state === 'ready') return service.value;
  throw new Error(`This needs Redis and PostgreSQL: ${service.reason}`);
}

async function backendOf(postgres: Client): Promise<number> {
  const { rows } = await postgres.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

async function databaseCounts(postgres: Client): Promise<Omit<ServerCounts, 'redisCommands'>> {
  const { rows } = await postgres.query<Record<string, string>>(`
    select xact_commit + xact_rollback as transactions,
      tup_inserted + tup_updated + tup_deleted as rows_written,
      (select wal_bytes from pg_stat_wal) as log_bytes,
      pg_database_size(datname) as database_bytes
    from pg_stat_database where datname = current_database()`);
  const [row = {}] = rows;
  return {
    transactions: Number(row.transactions),
    rowsWritten: Number(row.rows_written),
    logBytes: Number(row.log_bytes),
    databaseBytes: Number(row.database_bytes),
  };
}
