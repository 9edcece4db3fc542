import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { startPostgres } from '../services/postgres.ts';
import type { ServiceStart } from '../services/provided.ts';
import { startRedis } from '../services/redis.ts';
import { parentOf } from './processes.ts';

/** What the servers did since they were started; differences of two readings count. */
export interface ServerCounts {
  /** When they were read, in ms of this process. */
  readonly at: number;
  /** Commands that Redis carried out, those inside of scripts included. */
  readonly redisCommands: number;
  /** Statements of PostgreSQL, those that begin and end a transaction left out. */
  readonly statements: number;
  /** Transactions of PostgreSQL, reads included. */
  readonly transactions: number;
  /** Those that changed or locked something: each has a number of its own. */
  readonly writeTransactions: number;
  /** Rows that were inserted, changed or removed. */
  readonly rowsWritten: number;
  /** Bytes of PostgreSQL's write-ahead log. */
  readonly logBytes: number;
  /** Of the database on disk. */
  readonly databaseBytes: number;
}

/** A Redis of the benchmark's own, written through every second. */
export interface RedisSide {
  readonly url: string;
  readonly pid: number;
  /** Commands so far, those inside of scripts included. */
  commands(): Promise<number>;
  close(): Promise<void>;
}

/** Redis and PostgreSQL of the benchmark's own, as durable as in earnest. */
export interface Servers {
  readonly redisUrl: string;
  readonly postgresUrl: string;
  readonly redisPid: number;
  /** The root of its processes. */
  readonly postgresPid: number;
  /** `up to here`: what is not reported late is read at once, so that the wait is not counted in it. */
  counts(of?: 'from here' | 'up to here'): Promise<ServerCounts>;
  close(): Promise<void>;
}

/**
 * A connection reports its statistics once a second while it works, but ten seconds after its last statement
 * when it falls idle: read earlier, transactions of the time before would be counted. What the installation
 * does in these seconds is counted with them.
 */
const STATISTICS_MS = 10_500;

const AS_IN_EARNEST = {
  fsync: 'on',
  full_page_writes: 'on',
  shared_preload_libraries: 'pg_stat_statements',
};

/** Starts both. Throws where the machine has not both programs, or PostgreSQL no `pg_stat_statements`. */
export async function startServers(): Promise<Servers> {
  await using opened = new AsyncDisposableStack();
  const redis = await startRedisSide();
  opened.defer(redis.close);
  const service = await startPostgres(AS_IN_EARNEST);
  const postgresUrl = addressOf(service, opened);
  const postgres = new Client({ connectionString: postgresUrl });
  await postgres.connect();
  opened.defer(() => postgres.end());
  await postgres.query('create extension pg_stat_statements');
  const postgresPid = parentOf(await backendOf(postgres));
  const everything = opened.move();
  return {
    redisUrl: redis.url,
    postgresUrl,
    redisPid: redis.pid,
    postgresPid,
    async counts(of = 'from here') {
      const read = async () => ({
        at: performance.now(),
        redisCommands: await redis.commands(),
        ...(await databaseCounts(postgres)),
      });
      const early = await read();
      await pause(STATISTICS_MS);
      const late = await read();
      if (of === 'from here') return late;
      const { transactions, rowsWritten } = late;
      return { ...early, transactions, rowsWritten };
    },
    close: () => everything.disposeAsync(),
  };
}

/** Throws where the machine has no Redis. */
export async function startRedisSide(): Promise<RedisSide> {
  await using opened = new AsyncDisposableStack();
  const url = addressOf(await startRedis(), opened);
  const redis = new Redis(url);
  opened.defer(() => redis.disconnect());
  await redis.config('SET', 'appendonly', 'yes');
  await redis.config('SET', 'appendfsync', 'everysec');
  const number = async (section: string, name: string) =>
    Number(new RegExp(`${name}:(\\d+)`).exec(await redis.info(section))?.[1]);
  const pid = await number('server', 'process_id');
  const everything = opened.move();
  return {
    url,
    pid,
    commands: () => number('stats', 'total_commands_processed'),
    close: () => everything.disposeAsync(),
  };
}

function addressOf(service: ServiceStart, opened: AsyncDisposableStack): string {
  if (service.state !== 'ready') throw new Error(`This needs servers: ${service.reason}`);
  opened.defer(service.stop);
  return service.value;
}

async function backendOf(postgres: Client): Promise<number> {
  const { rows } = await postgres.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

async function databaseCounts(
  postgres: Client,
): Promise<Omit<ServerCounts, 'redisCommands' | 'at'>> {
  const { rows } = await postgres.query<Record<string, string>>(`
    select xact_commit + xact_rollback as transactions,
      pg_snapshot_xmax(pg_current_snapshot())::text::bigint as write_transactions,
      tup_inserted + tup_updated + tup_deleted as rows_written,
      (select wal_bytes from pg_stat_wal) as log_bytes,
      (select sum(calls) from pg_stat_statements
        where query !~* '^(begin|start|commit|rollback|savepoint|release)') as statements,
      pg_database_size(datname) as database_bytes
    from pg_stat_database where datname = current_database()`);
  const [row = {}] = rows;
  return {
    statements: Number(row.statements),
    transactions: Number(row.transactions),
    writeTransactions: Number(row.write_transactions),
    rowsWritten: Number(row.rows_written),
    logBytes: Number(row.log_bytes),
    databaseBytes: Number(row.database_bytes),
  };
}
