import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { startPostgres } from '../services/postgres.ts';
import type { ServiceStart } from '../services/provided.ts';
import { startRedis } from '../services/redis.ts';
import { getParentPid } from './processes.ts';

/**
 * Activity of the servers since they were started; only the difference between two readings is
 * meaningful.
 */
export interface ServerCounts {
  /** The time of the reading, in ms of this process. */
  readonly at: number;
  /** Commands executed by Redis, including those inside scripts. */
  readonly redisCommands: number;
  /** PostgreSQL statements, without those that start and end a transaction. */
  readonly statements: number;
  /** PostgreSQL transactions, including reads. */
  readonly transactions: number;
  /** Transactions that changed or locked something, each of which has an id. */
  readonly writeTransactions: number;
  /** Rows that were inserted, updated or deleted. */
  readonly rowsWritten: number;
  /** Bytes of PostgreSQL's write-ahead log. */
  readonly logBytes: number;
  /** The size of the database on disk. */
  readonly databaseBytes: number;
}

/** A Redis for the benchmark, synced every second. */
export interface RedisSide {
  readonly url: string;
  readonly pid: number;
  /** Commands so far, including those inside scripts. */
  commands(): Promise<number>;
  close(): Promise<void>;
}

/** Redis and PostgreSQL for the benchmark, as durable as in production. */
export interface Servers {
  readonly redisUrl: string;
  readonly postgresUrl: string;
  readonly redisPid: number;
  /** The root of PostgreSQL's process tree. */
  readonly postgresPid: number;
  /**
   * With `up to here`, counters without a delay are read immediately, so that the wait is not
   * included in them.
   */
  counts(of?: 'from here' | 'up to here'): Promise<ServerCounts>;
  close(): Promise<void>;
}

/**
 * A busy connection reports its statistics once a second, but an idle connection only ten seconds
 * after its last statement: an earlier reading would attribute earlier transactions to the measured
 * time. The activity of the installation in these seconds is included.
 */
const STATISTICS_MS = 10_500;

const AS_IN_EARNEST = {
  fsync: 'on',
  full_page_writes: 'on',
  shared_preload_libraries: 'pg_stat_statements',
};

/**
 * Starts Redis and PostgreSQL. Throws when one of the programs, or `pg_stat_statements` of
 * PostgreSQL, is missing.
 */
export async function startServers(): Promise<Servers> {
  await using opened = new AsyncDisposableStack();
  const redis = await startRedisSide();
  opened.defer(redis.close);
  const service = await startPostgres(AS_IN_EARNEST);
  const postgresUrl = getAddress(service, opened);
  const postgres = new Client({ connectionString: postgresUrl });
  await postgres.connect();
  opened.defer(() => postgres.end());
  await postgres.query('create extension pg_stat_statements');
  const postgresPid = getParentPid(await getBackendPid(postgres));
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
        ...(await readDatabaseCounts(postgres)),
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

/** Throws when Redis is not installed. */
export async function startRedisSide(): Promise<RedisSide> {
  await using opened = new AsyncDisposableStack();
  const url = getAddress(await startRedis(), opened);
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

function getAddress(service: ServiceStart, opened: AsyncDisposableStack): string {
  if (service.state !== 'ready') throw new Error(`This needs servers: ${service.reason}`);
  opened.defer(service.stop);
  return service.value;
}

async function getBackendPid(postgres: Client): Promise<number> {
  const { rows } = await postgres.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

async function readDatabaseCounts(
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
