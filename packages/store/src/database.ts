import type { Bound, Statement } from './statement.ts';

/** What a query is written against; in `write` it is the caller's own transaction. */
export interface Sql {
  all<P, R>(statement: Statement<P, R>, ...params: Bound<P>): Promise<R[]>;
  /** The first row. */
  get<P, R>(statement: Statement<P, R>, ...params: Bound<P>): Promise<R | undefined>;
  /** Resolves to the number of rows that were inserted, changed or deleted. */
  run<P>(statement: Statement<P>, ...params: Bound<P>): Promise<number>;
  /**
   * Only in a transaction: a write whose result decides nothing. PostgreSQL gets it together with
   * what follows; if it fails, the transaction fails.
   */
  send<P>(statement: Statement<P>, ...params: Bound<P>): void;
}

/**
 * What a write must survive. `power-cut` (the default): everything, once it has resolved. `process`:
 * the death of the process; a power cut may undo it until the next write of the other kind. On SQLite
 * that spares a sync to disk; PostgreSQL makes no difference.
 */
export type Durability = 'power-cut' | 'process';

/** The few things in which the two databases differ, behind one face. Errors are StoreErrors. */
export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  /** Runs queries that change nothing and need no common snapshot. */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `work` as one transaction; written when it resolves, nothing written when it rejects.
   * `work` awaits nothing but its queries, since on SQLite all others wait for it.
   */
  write<T>(work: (sql: Sql) => Promise<T>, durability?: Durability): Promise<T>;
  /** One statement as a transaction of its own; resolves to the number of rows it changed. */
  change<P>(durability: Durability, statement: Statement<P>, ...params: Bound<P>): Promise<number>;
  /** Like `write`, for leases: no load keeps it waiting for a connection. It awaits as little as can be. */
  writeUrgent<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Like `write`, for a migration or a restore, whose statements may each take an hour. */
  writeLong<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Another number as soon as stored history may read otherwise, entries that are appended apart; what is
   * remembered of it then is out of date. Null where other processes may do so unseen.
   */
  rewritten(): number | null;
  close(): Promise<void>;
}
