import type { SQLInputValue } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import type { StatementCache } from './statement-cache.ts';

/**
 * Kysely on one `node:sqlite` connection. Whoever holds the connection has it alone until it is
 * released, so the transactions of callers that run at the same time cannot interleave.
 */
export class SqliteDriver implements Driver {
  readonly #connection: DatabaseConnection;
  #free: Promise<void> = Promise.resolve();
  #release = (): void => undefined;

  constructor(statements: StatementCache) {
    this.#connection = new SqliteConnection(statements);
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
    throw useGroupCommit();
  }

  async commitTransaction(): Promise<void> {
    throw useGroupCommit();
  }

  async rollbackTransaction(): Promise<void> {
    throw useGroupCommit();
  }

  async destroy(): Promise<void> {}
}

function useGroupCommit(): Error {
  return new Error('Transactions on SQLite go through GroupCommit, never through Kysely.');
}

class SqliteConnection implements DatabaseConnection {
  readonly #statements: StatementCache;

  constructor(statements: StatementCache) {
    this.#statements = statements;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, givesRows } = this.#statements.get(query.sql);
    // Kysely hands over what the repositories gave it: strings, numbers, bytes and null.
    const parameters = query.parameters as SQLInputValue[];
    if (givesRows) return { rows: statement.all(...parameters) as R[] };
    const { changes } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: Kysely asks for the method, no repository streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('The SQLite driver does not stream; read with a limit instead.');
  }
}
