import type { Database } from '../database.ts';
import { Kysely, PostgresDialect } from '../kysely.ts';
import { StoreError } from '../store-error.ts';
import type { Tables } from '../tables.ts';
import { numberTypes } from './number-types.ts';
import { explainPostgresFailure } from './postgres-failure.ts';

/** Transactions are short, so a few connections serve many turns; the server's default is 100. */
const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 5_000;
/** Transactions take milliseconds; one that stands still must not hold its rows, or wait, for long. */
const LIMITS_MS = { idle_in_transaction_session_timeout: 10_000, lock_timeout: 10_000 };

/** Opens a pool on PostgreSQL. The `pg` library is loaded here, so that SQLite users never pay it. */
export async function openPostgres(options: { url: string; name: string }): Promise<Database> {
  const { Pool, types } = await import('pg');
  const pool = new Pool({
    connectionString: options.url,
    max: POOL_SIZE,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'parley',
    ...LIMITS_MS,
    types: numberTypes(types),
  });
  // A connection that breaks tells so by an event as well, on the pool while it is idle and on
  // itself while it is lent; unheard, either would end the process. The query that runs on it, or
  // the next one, fails and is explained, so nothing is lost here.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  let open = true;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!open) throw new StoreError('store-closed', `${options.name} is closed already.`);
    try {
      return await work();
    } catch (reason) {
      throw explainPostgresFailure(options.name, reason);
    }
  };
  return {
    dialect: 'postgres',
    read: (work) => guarded(() => work(kysely)),
    write: (work) => guarded(() => kysely.transaction().execute(work)),
    async close() {
      if (!open) return;
      open = false;
      await kysely.destroy();
    },
  };
}
