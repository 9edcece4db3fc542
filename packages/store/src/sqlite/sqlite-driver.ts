import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';

/** Repositories use a few dozen texts; lists of varying length make more, and those may fall out. */
const CACHED_STATEMENTS = 300;

interface Prepared {
  readonly statement: StatementSync;
  readonly givesRows: boolean;
}

/**
 * Kysely on one `node:sqlite` connection. Whoever holds the connection has it alone until it is
 * released, so the transactions of callers that run at the same time cannot interleave.
 */
export class SqliteDriver implements Driver {
  readonly #connection: SqliteConnection;
  #free: Promise<void> = Promise.resolve();
  #release = (): void => undefined;

  constructor(sqlite: DatabaseSync) {
    this.#connection = new SqliteConnection(sqlite);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#free;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#free = promise;
    await before;
    this.#release = resolve;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  async beginTransaction(): Promise<void> {
    // Immediate: a transaction that reads first could otherwise fail when it comes to write.
    this.#connection.run('begin immediate');
  }

  async commitTransaction(): Promise<void> {
    this.#connection.run('commit');
  }

  async rollbackTransaction(): Promise<void> {
    this.#connection.run('rollback');
  }

  async destroy(): Promise<void> {}
}

class SqliteConnection implements DatabaseConnection {
  readonly #sqlite: DatabaseSync;
  readonly #cache = new Map<string, Prepared>();

  constructor(sqlite: DatabaseSync) {
    this.#sqlite = sqlite;
  }

  run(text: string): void {
    this.#prepare(text).statement.run();
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, givesRows } = this.#prepare(query.sql);
    // Kysely hands over what the repositories gave it: strings, numbers and null.
    const parameters = query.parameters as SQLInputValue[];
    if (givesRows) return { rows: statement.all(...parameters) as R[] };
    const { changes } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: Kysely asks for the method, no repository streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('The SQLite driver does not stream; read with a limit instead.');
  }

  #prepare(text: string): Prepared {
    const cached = this.#cache.get(text);
    if (cached !== undefined) return cached;
    const statement = this.#sqlite.prepare(text);
    const prepared = { statement, givesRows: statement.columns().length > 0 };
    this.#cache.set(text, prepared);
    const oldest = this.#cache.keys().next().value;
    if (this.#cache.size > CACHED_STATEMENTS && oldest !== undefined) this.#cache.delete(oldest);
    return prepared;
  }
}
