import type { Pool, PoolClient, QueryResult } from 'pg';
import { isFromServer } from './postgres-failure.ts';

/** One query; `name` is of a statement that this connection may keep prepared. */
export interface Question {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
}

/** A connection of the pool for one borrower. Questions are sent at once and answered in order. */
export interface Lent {
  ask(question: Question): Promise<QueryResult>;
  /** Begins a transaction. */
  begin(): Promise<QueryResult>;
  release(): void;
}

/** Lends a connection on which each answer may take so long, in ms. */
export type Lend = (ms: number) => Promise<Lent>;

/**
 * Transactions take milliseconds; one that waits for a lock or for its client must not block others
 * for long.
 */
const LOCKS = "lock_timeout = '5s'";
const IDLE = "idle_in_transaction_session_timeout = '8s'";
/**
 * A pooler such as PgBouncer gives each transaction another connection: what is set must end with the
 * transaction, and nothing can be kept prepared.
 */
const BEGIN = {
  direct: 'begin',
  pooled: `begin; set local ${LOCKS}; set local ${IDLE}`,
} as const;

/**
 * Lends connections that are destroyed once a query was not answered in time: `pg` itself only rejects
 * the query and keeps the connection, on which the next one would wait as long. Idle connections that
 * were last heard of before that query are as dead, so they are not lent any more.
 */
export function lender(pool: Pool): Lend {
  const heard = new WeakMap<PoolClient, number>();
  const kinds = new WeakMap<PoolClient, keyof typeof BEGIN>();
  pool.on('connect', (client) => heard.set(client, performance.now()));
  let silentSince = 0;

  function borrow(client: PoolClient, ms: number): Lent {
    let lost: Error | undefined;
    const ask: Lent['ask'] = async ({ text, values, name }) => {
      if (lost !== undefined) throw lost;
      const askedAt = performance.now();
      const named = name !== undefined && kinds.get(client) === 'direct' ? { name } : {};
      const query = { text, values: values && [...values], ...named, query_timeout: ms };
      try {
        const result = await client.query(query);
        heard.set(client, performance.now());
        return result;
      } catch (error) {
        if (error instanceof Error && !isFromServer(error) && lost === undefined) {
          lost = error;
          silentSince = askedAt;
          client.release(error);
        }
        throw error;
      }
    };
    return {
      ask,
      begin: () => ask({ text: BEGIN[kinds.get(client) ?? 'pooled'] }),
      release: () => lost ?? client.release(),
    };
  }

  return async (ms) => {
    let client = await pool.connect();
    while ((heard.get(client) ?? 0) < silentSince) {
      client.release(true);
      client = await pool.connect();
    }
    const lent = borrow(client, ms);
    if (kinds.has(client)) return lent;
    try {
      kinds.set(client, await kindOf(client, lent));
      return lent;
    } catch (reason) {
      lent.release();
      throw reason;
    }
  };
}

/** A pooler makes up the number of the process that it names to its clients. */
async function kindOf(client: PoolClient, { ask }: Lent): Promise<keyof typeof BEGIN> {
  const { rows } = await ask({ text: 'select pg_backend_pid() as pid' });
  if (rows[0]?.pid !== Reflect.get(client, 'processID')) return 'pooled';
  await ask({ text: `set ${LOCKS}; set ${IDLE}` });
  return 'direct';
}
