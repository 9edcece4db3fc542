import { reasonOf, systemTime } from '@parley/core';
import type { Pool, PoolClient, types } from 'pg';
import { z } from 'zod';
import {
  type Database,
  StoreError,
  type StoreErrorCode,
  type WriteTransaction,
} from '../database.ts';
import {
  type AcquireConnection,
  createPoolSql,
  NamedStatements,
  type PendingQuery,
  type PooledConnection,
  type PostgresQuery,
  type PreparedStatements,
  QueryBatch,
  type QueryResponse,
  runTransaction,
  type TypeParserLookup,
} from './query-batch.ts';

/** The maximum number of connections per process. */
export interface PostgresLimits {
  readonly connections?: number | undefined;
  /** The timeout for opening a connection or getting a free one from the pool. */
  readonly connectSeconds?: number | undefined;
  /** The timeout for the result of one statement. */
  readonly querySeconds?: number | undefined;
}

/**
 * The timeout for one statement of a migration or a move to PostgreSQL, which may rewrite a large
 * table.
 */
const LONG_QUERY_MS = 60 * 60_000;

/** Idle time after which a connection is closed; a new one must prepare its statements again. */
const IDLE_MS = 60_000;

/** Idle time before TCP sends a keep-alive probe, in ms. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** The `pg` library is imported lazily, so that SQLite users do not load it. */
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
  // A separate pool lets leases be renewed in time, even when many turns wait for a connection.
  const urgent = new Pool({ ...common, max: urgentConnections });
  // A broken connection also emits an event: on the pool while idle, on the connection while
  // borrowed. Without a listener, this event would end the process. The current or next query on
  // the connection fails with an explanation, so the event can be ignored.
  for (const one of [pool, urgent]) {
    one.on('error', () => undefined);
    one.on('connect', (client) => client.on('error', () => undefined));
  }
  const { getTypeParser } = createNumberParsers(types);
  const named = new NamedStatements();
  let check: ((write: WriteTransaction) => Promise<void>) | undefined;
  const look = async (lent: PooledConnection): Promise<boolean> => {
    if (check === undefined) return false;
    const here = { ...lent, release: () => undefined };
    await check((work) => runTransaction(named, async () => here, work));
    return true;
  };
  const [lend, lendUrgent] = [
    createConnectionAcquirer(pool, getTypeParser, look),
    createConnectionAcquirer(urgent, getTypeParser, look),
  ];
  const ms = querySeconds * 1000;
  const reading = createPoolSql(named, lend, ms);
  let open = true;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!open) throw new StoreError('store-closed', `${name} is already closed.`);
    try {
      return await work();
    } catch (reason) {
      throw explainPostgresFailure(name, reason);
    }
  };
  return {
    dialect: 'postgres',
    read: (work) => guarded(() => work(reading)),
    write: (work) => guarded(() => runTransaction(named, () => lend(ms), work)),
    change: (_durability, statement, ...params) => guarded(() => reading.run(statement, ...params)),
    writePriority: (work) => guarded(() => runTransaction(named, () => lendUrgent(ms), work)),
    writeUnlimited: (work) => guarded(() => runTransaction(named, () => lend(LONG_QUERY_MS), work)),
    onConnect(added) {
      check = added;
    },
    historyVersion: () => null,
    async close() {
      if (!open) return;
      open = false;
      await Promise.all([pool.end(), urgent.end()]);
    },
  };
}

/** PostgreSQL's type ids of bigint and numeric, which `pg` returns as strings by default. */
const NUMBERS: ReadonlySet<number> = new Set([20, 1700]);

/** Parses bigint and numeric as numbers: times, counters and token sums all stay far below 2^53. */
function createNumberParsers(library: typeof types): Pick<typeof types, 'getTypeParser'> {
  return {
    getTypeParser: (type, format) =>
      NUMBERS.has(type) ? Number : library.getTypeParser(type, format),
  };
}

/**
 * Transactions take milliseconds, so one that waits for a lock or for its client must not block
 * others for long.
 */
const LOCKS = "lock_timeout = '5s'";
const IDLE = "idle_in_transaction_session_timeout = '8s'";
/**
 * A pooler such as PgBouncer may use another connection for each transaction, so settings must end
 * with the transaction and no statement can stay prepared.
 */
const BEGIN: Readonly<Record<'direct' | 'pooled', readonly PostgresQuery[]>> = {
  direct: [{ text: 'begin', name: 'parley_begin' }],
  pooled: [{ text: 'begin' }, { text: `set local ${LOCKS}` }, { text: `set local ${IDLE}` }],
};

/**
 * Lends connections, and destroys a connection that does not answer a query in time. By default,
 * `pg` only rejects the query and keeps the connection, on which the next query would wait just as
 * long. Idle connections that last answered before that query are considered broken too and are no
 * longer lent.
 */
function createConnectionAcquirer(
  pool: Pool,
  parserOf: TypeParserLookup,
  look: (lent: PooledConnection) => Promise<boolean>,
): AcquireConnection {
  const prepared = new WeakMap<PoolClient, PreparedStatements>();
  const heard = new WeakMap<PoolClient, number>();
  const kinds = new WeakMap<PoolClient, keyof typeof BEGIN>();
  const looked = new WeakSet<PoolClient>();
  pool.on('connect', (client) => heard.set(client, systemTime.monotonic()));
  let silentSince = 0;

  function borrow(client: PoolClient, ms: number): PooledConnection {
    let lost: Error | undefined;
    let waiting: PendingQuery[] = [];
    const isPrepared = prepared.get(client) ?? new Map();
    prepared.set(client, isPrepared);

    let sentAt = 0;
    const onEnd = (reason: unknown): void => {
      if (reason === null) heard.set(client, systemTime.monotonic());
      else if (reason instanceof Error && !isFromServer(reason) && lost === undefined) {
        lost = reason;
        silentSince = sentAt;
        client.release(reason);
      }
    };
    const connection = { prepared: isPrepared, parserOf, ms, onEnd };
    const send = (): void => {
      sentAt = systemTime.monotonic();
      client.query(new QueryBatch(waiting, connection));
      waiting = [];
    };
    const ask = (question: PostgresQuery): Promise<QueryResponse> =>
      new Promise((resolve, reject) => {
        if (lost !== undefined) return reject(lost);
        const isNamed = kinds.get(client) === 'direct';
        const { name: _, ...unnamed } = question;
        waiting.push({ question: isNamed ? question : unnamed, resolve, reject });
        // The batch is sent after all pending microtasks, so that later queries in the same event
        // loop turn join it.
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
    if (looked.has(client)) return lent;
    try {
      if (!kinds.has(client)) kinds.set(client, await detectPooling(client, lent));
      if (await look(lent)) looked.add(client);
      return lent;
    } catch (reason) {
      lent.release();
      throw reason;
    }
  };
}

/** Detects a pooler by the invented backend process id that it reports to its clients. */
async function detectPooling(
  client: PoolClient,
  { ask }: PooledConnection,
): Promise<keyof typeof BEGIN> {
  const { rows } = await ask({ text: 'select pg_backend_pid() as pid' });
  const [{ pid }] = z.tuple([z.object({ pid: z.number() })]).parse(rows);
  if (pid !== Reflect.get(client, 'processID')) return 'pooled';
  await Promise.all([ask({ text: `set ${LOCKS}` }), ask({ text: `set ${IDLE}` })]);
  return 'direct';
}

const ADVICE = {
  'store-unreachable':
    'PostgreSQL does not answer. Check that it is running and that the host is correct.',
  'store-refused':
    'PostgreSQL rejected the login. Check the user, password and database name in the URL.',
  'store-unwritable':
    'PostgreSQL allows this user only to read. Grant the user the right to write and create tables.',
  'store-full': "The server's disk is full; nothing was written. Free some space on the server.",
  'store-busy': 'Another transaction interfered; nothing was written. Try again.',
  'store-damaged': 'PostgreSQL reports damaged data. Restore the database from a backup.',
  'store-failed': 'A query failed.',
} as const satisfies Partial<Record<StoreErrorCode, string>>;

type PostgresErrorCode = keyof typeof ADVICE;

/**
 * SQLSTATEs (PostgreSQL documentation, appendix A) as full codes or classes; full codes come first.
 */
const BY_STATE: readonly (readonly [start: string, code: PostgresErrorCode])[] = [
  ['3D000', 'store-refused'],
  ['28', 'store-refused'],
  ['25006', 'store-unwritable'],
  ['42501', 'store-unwritable'],
  ['53100', 'store-full'],
  ['53', 'store-unreachable'],
  ['40', 'store-busy'],
  ['55P03', 'store-busy'],
  ['57014', 'store-busy'],
  ['25P03', 'store-busy'],
  ['57', 'store-unreachable'],
  ['08', 'store-unreachable'],
  ['XX001', 'store-damaged'],
  ['XX002', 'store-damaged'],
];

/** Converts an error of the `pg` driver about the database `name` into a StoreError. */
export function explainPostgresFailure(name: string, thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const code = getPostgresErrorCode(thrown);
  return new StoreError(code, `${name}: ${ADVICE[code]} (${reasonOf(thrown)})`, thrown);
}

/** Only server errors carry a severity; Node's own errors (ECONNREFUSED) have a code as well. */
function isFromServer(error: Error): boolean {
  return 'severity' in error;
}

function getPostgresErrorCode(thrown: unknown): PostgresErrorCode {
  if (!(thrown instanceof Error)) return 'store-failed';
  const state = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  if (isFromServer(thrown)) {
    return BY_STATE.find(([start]) => state.startsWith(start))?.[1] ?? 'store-failed';
  }
  const fromTheNetwork = state !== '' || thrown instanceof AggregateError;
  return fromTheNetwork || /connect|timeout/i.test(thrown.message)
    ? 'store-unreachable'
    : 'store-failed';
}
