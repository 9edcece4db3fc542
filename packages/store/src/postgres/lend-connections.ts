import type { Pool, PoolClient } from 'pg';
import { z } from 'zod';
import { isFromServer } from './postgres-failure.ts';
import {
  type Answer,
  type Asked,
  type ParserOf,
  type Prepared,
  QueryBatch,
  type Question,
} from './query-batch.ts';

/**
 * A connection of the pool for one borrower. Questions are answered in order; those of one turn of the
 * event loop go out together.
 */
export interface Lent {
  ask(question: Question): Promise<Answer>;
  /** Begins a transaction. */
  begin(): Promise<unknown>;
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
const BEGIN: Readonly<Record<'direct' | 'pooled', readonly Question[]>> = {
  direct: [{ text: 'begin', name: 'parley_begin' }],
  pooled: [{ text: 'begin' }, { text: `set local ${LOCKS}` }, { text: `set local ${IDLE}` }],
};

/**
 * Lends connections that are destroyed once a query was not answered in time: `pg` itself only rejects
 * the query and keeps the connection, on which the next one would wait as long. Idle connections that
 * last answered before that query count as dead, too, and are not lent any more.
 */
export function lender(pool: Pool, parserOf: ParserOf): Lend {
  const prepared = new WeakMap<PoolClient, Prepared>();
  const heard = new WeakMap<PoolClient, number>();
  const kinds = new WeakMap<PoolClient, keyof typeof BEGIN>();
  pool.on('connect', (client) => heard.set(client, performance.now()));
  let silentSince = 0;

  function borrow(client: PoolClient, ms: number): Lent {
    let lost: Error | undefined;
    let waiting: Asked[] = [];
    const isPrepared = prepared.get(client) ?? new Map();
    prepared.set(client, isPrepared);

    let sentAt = 0;
    const onEnd = (reason: unknown): void => {
      if (reason === null) heard.set(client, performance.now());
      else if (reason instanceof Error && !isFromServer(reason) && lost === undefined) {
        lost = reason;
        silentSince = sentAt;
        client.release(reason);
      }
    };
    const connection = { prepared: isPrepared, parserOf, ms, onEnd };
    const send = (): void => {
      sentAt = performance.now();
      client.query(new QueryBatch(waiting, connection));
      waiting = [];
    };
    const ask = (question: Question): Promise<Answer> =>
      new Promise((resolve, reject) => {
        if (lost !== undefined) return reject(lost);
        const isNamed = kinds.get(client) === 'direct';
        const { name: _, ...unnamed } = question;
        waiting.push({ question: isNamed ? question : unnamed, resolve, reject });
        // Behind everything that runs now.
        if (waiting.length === 1) queueMicrotask(() => process.nextTick(send));
      });
    return {
      ask,
      begin: () => Promise.all(BEGIN[kinds.get(client) ?? 'pooled'].map(ask)),
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
  const [{ pid }] = z.tuple([z.object({ pid: z.number() })]).parse(rows);
  if (pid !== Reflect.get(client, 'processID')) return 'pooled';
  await Promise.all([ask({ text: `set ${LOCKS}` }), ask({ text: `set ${IDLE}` })]);
  return 'direct';
}
