import { createRequire } from 'node:module';
import type { CompiledQuery, Kysely as KyselyType, QueryResult } from 'kysely';
import type { Builder } from './database.ts';
import type { Tables } from './tables.ts';

const kysely: typeof import('kysely') = createRequire(import.meta.url)('kysely');

/**
 * Raw SQL of Kysely, in its CommonJS form: its 260 modules are there in half the time, and every start
 * waits for them. Types come from the package itself.
 */
export const { sql: raw } = kysely;

/** Runs what the builder has compiled, on the connection or the pool it belongs to. */
export type Execute = <R>(query: CompiledQuery) => Promise<QueryResult<R>>;

/** Kysely on anything that can run a query; made when it is first used. */
export class LazyBuilder implements Builder {
  readonly #dialect: 'sqlite' | 'postgres';
  readonly #execute: Execute;
  #made: KyselyType<Tables> | undefined;

  constructor(dialect: 'sqlite' | 'postgres', execute: Execute) {
    this.#dialect = dialect;
    this.#execute = execute;
  }

  get #kysely(): KyselyType<Tables> {
    this.#made ??= builderOn(this.#dialect, this.#execute);
    return this.#made;
  }
  get selectFrom(): Builder['selectFrom'] {
    return this.#kysely.selectFrom.bind(this.#kysely);
  }
  get insertInto(): Builder['insertInto'] {
    return this.#kysely.insertInto.bind(this.#kysely);
  }
  get updateTable(): Builder['updateTable'] {
    return this.#kysely.updateTable.bind(this.#kysely);
  }
  get deleteFrom(): Builder['deleteFrom'] {
    return this.#kysely.deleteFrom.bind(this.#kysely);
  }
  get getExecutor(): Builder['getExecutor'] {
    return this.#kysely.getExecutor.bind(this.#kysely);
  }
}

function builderOn(dialect: 'sqlite' | 'postgres', executeQuery: Execute): KyselyType<Tables> {
  const isSqlite = dialect === 'sqlite';
  const refuse = async (): Promise<never> => {
    throw new Error('Transactions and streams go through Database, never through Kysely.');
  };
  const connection = {
    executeQuery,
    // biome-ignore lint/correctness/useYield: Kysely asks for the method, no repository streams.
    async *streamQuery() {
      await refuse();
    },
  };
  const driver = {
    init: async () => undefined,
    acquireConnection: async () => connection,
    releaseConnection: async () => undefined,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => undefined,
  };
  return new kysely.Kysely<Tables>({
    dialect: {
      createAdapter: () => (isSqlite ? new kysely.SqliteAdapter() : new kysely.PostgresAdapter()),
      createDriver: () => driver,
      createIntrospector: (db) =>
        isSqlite ? new kysely.SqliteIntrospector(db) : new kysely.PostgresIntrospector(db),
      createQueryCompiler: () =>
        isSqlite ? new kysely.SqliteQueryCompiler() : new kysely.PostgresQueryCompiler(),
    },
  });
}
