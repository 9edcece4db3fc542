import type { PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { Pool as PgPool, PoolClient } from 'pg';
import type { Database } from '../database.ts';
import { Kysely, PostgresDialect } from '../kysely.ts';
import { StoreError } from '../store-error.ts';
import type { Tables } from '../tables.ts';
import { numberTypes } from './number-types.ts';
import { explainPostgresFailure, isFromServer } from './postgres-failure.ts';

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
/** TCP asks after a connection that has been quiet for so long. In ms. */
const KEEP_ALIVE_AFTER_MS = 10_000;
/**
 * Transactions take milliseconds; one that waits for a lock or for its client must not block others
 * for long. One message with `begin`, because a pooler such as PgBouncer refuses such parameters of a
 * connection and gives each transaction another one.
 */
const BEGIN = `begin; set local lock_timeout = '5s'; set local idle_in_transaction_session_timeout = '8s'`;

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
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    connectionTimeoutMillis: connectSeconds * 1000,
    application_name: 'parley',
    types: numberTypes(types),
  };
  const pool = new Pool({ ...common, max: connections - urgentConnections });
  // Leases must be renewed in time however many turns wait for a connection.
  const urgent = new Pool({ ...common, max: urgentConnections });
  // A connection that breaks tells so by an event as well, on the pool while it is idle and on
  // itself while it is lent; unheard, either would end the process. The query that runs on it, or
  // the next one, fails and is explained, so nothing is lost here.
  for (const one of [pool, urgent]) {
    one.on('error', () => undefined);
    one.on('connect', (client) => client.on('error', () => undefined));
  }
  const lend = lender(pool);
  const within = (ms: number, from = lend) =>
    new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: { connect: () => from(ms), end: async () => {} } }),
    });
  const kysely = within(querySeconds * 1000);
  const renewing = within(querySeconds * 1000, lender(urgent));
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
    read: (work) => guarded(() => work(kysely)),
    write: (work) => guarded(() => kysely.transaction().execute(work)),
    writeUrgent: (work) => guarded(() => renewing.transaction().execute(work)),
    writeLong: (work) => guarded(() => within(LONG_QUERY_MS).transaction().execute(work)),
    async close() {
      if (!open) return;
      open = false;
      await Promise.all([pool.end(), urgent.end()]);
    },
  };
}

/**
 * Lends connections that are destroyed once a query was not answered in time: `pg` itself only rejects
 * the query and keeps the connection, on which the next one would wait as long. Idle connections that
 * were last heard of before that query are as dead, so they are not lent any more.
 */
function lender(pool: PgPool): (ms: number) => Promise<PostgresPoolClient> {
  const heard = new WeakMap<PoolClient, number>();
  pool.on('connect', (client) => heard.set(client, performance.now()));
  let silentSince = 0;
  return async (ms) => {
    let client = await pool.connect();
    while ((heard.get(client) ?? 0) < silentSince) {
      client.release(true);
      client = await pool.connect();
    }
    let lost: Error | undefined;
    async function ask(text: string, values: unknown[]): Promise<unknown> {
      if (lost !== undefined) throw lost;
      const askedAt = performance.now();
      const query = { text: text === 'begin' ? BEGIN : text, values, query_timeout: ms };
      try {
        const result = await client.query(query);
        heard.set(client, performance.now());
        return result;
      } catch (error) {
        if (error instanceof Error && !isFromServer(error)) {
          lost = error;
          silentSince = askedAt;
          client.release(error);
        }
        throw error;
      }
    }
    function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
    function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
    function query(text: unknown, values: readonly unknown[] = []): unknown {
      return ask(String(text), [...values]);
    }
    return { query, release: () => lost ?? client.release() };
  };
}
