import type { types } from 'pg';
import { type Database, StoreError } from '../database.ts';
import { lender } from './lend-connections.ts';
import { explainPostgresFailure } from './postgres-failure.ts';
import { NamedStatements, sqlOnPool, transact } from './postgres-sql.ts';

/** How many connections one process opens at most, and how long it waits for the server. */
export interface PostgresLimits {
  readonly connections?: number | undefined;
  /** For a new connection, or a free one of the pool. */
  readonly connectSeconds?: number | undefined;
  /** For the answer to one statement. */
  readonly querySeconds?: number | undefined;
}

/** For one statement of a migration or a restore, which may rewrite a large table. */
const LONG_QUERY_MS = 60 * 60_000;

/** A connection that is idle for so long is closed; a new one must prepare its statements again. */
const IDLE_MS = 60_000;

/** TCP asks after a connection that has been quiet for so long. In ms. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** Opens a pool on PostgreSQL. The `pg` library is loaded here, so that SQLite users never pay it. */
export async function openPostgres({
  url,
  name,
  connections = 10,
  connectSeconds = 5,
  querySeconds = 10,
}: { readonly url: string; readonly name: string } & PostgresLimits): Promise<Database> {
  const { Pool, types } = await import('pg');
  const urgentConnections = connections < 4 ? 1 : 2;
  const common = {
    connectionString: url,
    pipeline: true,
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    connectionTimeoutMillis: connectSeconds * 1000,
    application_name: 'parley',
  };
  const pool = new Pool({ ...common, max: connections - urgentConnections });
  // Leases must be renewed in time however many turns wait for a connection.
  const urgent = new Pool({ ...common, max: urgentConnections });
  // A connection that breaks emits an event as well, on the pool while it is idle and on
  // itself while it is lent; without a listener, either would end the process. The query that runs on it, or
  // the next one, fails and is explained, so nothing is lost here.
  for (const one of [pool, urgent]) {
    one.on('error', () => undefined);
    one.on('connect', (client) => client.on('error', () => undefined));
  }
  const { getTypeParser } = numberTypes(types);
  const [lend, lendUrgent] = [lender(pool, getTypeParser), lender(urgent, getTypeParser)];
  const named = new NamedStatements();
  const ms = querySeconds * 1000;
  const reading = sqlOnPool(named, lend, ms);
  let open = true;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!open) throw new StoreError('store-closed', `${name} is closed already.`);
    try {
      return await work();
    } catch (reason) {
      throw explainPostgresFailure(name, reason);
    }
  };
  return {
    dialect: 'postgres',
    read: (work) => guarded(() => work(reading)),
    write: (work) => guarded(() => transact(named, () => lend(ms), work)),
    change: (_durability, statement, ...params) => guarded(() => reading.run(statement, ...params)),
    writeUrgent: (work) => guarded(() => transact(named, () => lendUrgent(ms), work)),
    writeLong: (work) => guarded(() => transact(named, () => lend(LONG_QUERY_MS), work)),
    rewritten: () => null,
    async close() {
      if (!open) return;
      open = false;
      await Promise.all([pool.end(), urgent.end()]);
    },
  };
}

/** PostgreSQL's type numbers of bigint and numeric; `pg` would give both as strings. */
const NUMBERS: ReadonlySet<number> = new Set([20, 1700]);

/** How values are read: times, counters and sums of tokens all stay far below 2^53. */
export function numberTypes(library: typeof types): Pick<typeof types, 'getTypeParser'> {
  return {
    getTypeParser: (type, format) =>
      NUMBERS.has(type) ? Number : library.getTypeParser(type, format),
  };
}
