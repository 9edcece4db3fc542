import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers';
import { type Database, type Durability, IN_MEMORY, type Sql, StoreError } from '../database.ts';
import { GroupCommit } from './group-commit.ts';
import { explainSqliteFailure } from './sqlite-failure.ts';
import { Prepared, SqliteSql } from './sqlite-sql.ts';

/** How long a statement waits for a lock that another process holds. */
const BUSY_TIMEOUT_MS = 5_000;
/**
 * Pages in the log before they are copied into the database; SQLite's default is 1,000. The same pages change
 * with every message, so rarer copies are fewer: 12 % more answers a second, 6 % less processor time.
 */
const LOG_PAGES = 4_000;
/** Of the log that is left lying: `LOG_PAGES` of 4 kB. */
const LARGEST_LOG_BYTES = 16 * 1024 * 1024;

/** What `openSqlite` needs: the file, and what to call it in messages. */
export interface SqliteOptions {
  readonly path: string;
  readonly name: string;
  /** Called with the text of each query; for the check of query plans. */
  readonly onQuery?: (text: string) => void;
}

/**
 * Opens or creates a SQLite file that only its owner may read. Throws StoreErrors.
 */
export function openSqlite(options: SqliteOptions): Database {
  const explain = (thrown: unknown) => explainSqliteFailure(options.name, thrown);
  try {
    const isNew = options.path !== IN_MEMORY && keepPrivate(options.path);
    const sqlite = new DatabaseSync(options.path, { timeout: BUSY_TIMEOUT_MS });
    try {
      configure(sqlite, isNew);
    } catch (reason) {
      sqlite.close();
      throw reason;
    }
    return sqliteDatabase(sqlite, options, explain);
  } catch (reason) {
    throw explain(reason);
  }
}

/** SQLite gives its side files the mode of the database, so the database must have it first. True: it is empty. */
function keepPrivate(path: string): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
  const { mode, size } = statSync(path);
  if ((mode & 0o077) !== 0) chmodSync(path, 0o600);
  return size === 0;
}

/**
 * FULL syncs the log at each commit. With NORMAL a power cut loses the last commits; among those of
 * `power-cut` are messages that were confirmed to the platform (D01). A later FULL
 * commit syncs what NORMAL ones before it wrote.
 */
const SYNCHRONOUS: Readonly<Record<Durability, string>> = {
  'power-cut': 'pragma synchronous = full',
  process: 'pragma synchronous = normal',
};

function configure(sqlite: DatabaseSync, isNew: boolean): void {
  // So that retention can give free pages back to the disk. In a file that has this it would be a write.
  if (isNew) sqlite.exec('pragma auto_vacuum = incremental');
  // A long reader, such as a backup, makes the log grow; it becomes small again with the next checkpoint.
  sqlite.exec(`pragma journal_mode = wal; pragma journal_size_limit = ${LARGEST_LOG_BYTES}`);
  sqlite.exec(`pragma wal_autocheckpoint = ${LOG_PAGES}`);
  sqlite.exec(SYNCHRONOUS['power-cut']);
  // What is rewritten is overwritten on the disk: else `/forget` would miss copies that were given free.
  sqlite.exec('pragma secure_delete = on');
  sqlite.exec('pragma foreign_keys = on');
  // What a savepoint would undo is kept in memory; SQLite would write a file of its own for it as
  // soon as it exceeds 64 kB, which the commit of one turn does (0.1 ms). Nothing durable is in it.
  sqlite.exec('pragma temp_store = memory');
}

function sqliteDatabase(
  sqlite: DatabaseSync,
  options: SqliteOptions,
  explain: (thrown: unknown) => StoreError,
): Database {
  const prepared = new Prepared(sqlite, options.onQuery);
  let transaction: Promise<void> | null = null;
  const reading = new SqliteSql(prepared, () => transaction);
  const writing = new SqliteSql(prepared, () => null);
  const alone = async (use: (sql: Sql) => Promise<void>): Promise<void> => {
    const over = Promise.withResolvers<void>();
    transaction = over.promise;
    try {
      await use(writing);
    } finally {
      transaction = null;
      over.resolve();
    }
  };
  let foreign = 0;
  let foreignChanges = 0;
  let surviving: Durability = 'power-cut';
  const transactions = new GroupCommit(alone, {
    run: (statement) => void prepared.text(statement).run(),
    survive(durability) {
      if (durability !== surviving) sqlite.exec(SYNCHRONOUS[durability]);
      surviving = durability;
    },
    inTransaction: () => sqlite.isTransaction,
  });
  let open = true;
  const explained = (reason: unknown): never => {
    throw explain(reason);
  };
  const transact = <T>(work: (sql: Sql) => Promise<T>, durability: Durability): Promise<T> =>
    open ? transactions.transact(work, durability).catch(explained) : Promise.reject(closed());
  const closed = () => new StoreError('store-closed', `${options.name} is closed already.`);
  return {
    dialect: 'sqlite',
    async read(work) {
      if (!open) throw closed();
      try {
        return await work(reading);
      } catch (reason) {
        throw explain(reason);
      }
    },
    write: (work, durability = 'power-cut') => transact(work, durability),
    change: (durability, statement, ...params) =>
      transact((sql) => sql.run(statement, ...params), durability),
    writeUrgent: (work) => transact(work, 'process'),
    writeLong: (work) => transact(work, 'power-cut'),
    rewritten() {
      // It changes with every commit of another process on the file, such as a command's.
      const { data_version: seen } = prepared.text('pragma data_version').get() ?? {};
      if (seen !== foreign) foreignChanges += 1;
      foreign = Number(seen);
      return prepared.rewritten + foreignChanges;
    },
    async close() {
      if (!open) return;
      open = false;
      await transactions.idle();
      // Reads that were asked for before end first: what they wait for is done in this turn of the loop.
      await new Promise((resolve) => setImmediate(resolve));
      sqlite.close();
    },
  };
}
