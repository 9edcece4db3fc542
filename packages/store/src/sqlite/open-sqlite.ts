import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers';
import { BoundedMap, reasonOf } from '@parley/core';
import {
  type BoundArguments,
  type Database,
  type Durability,
  getStatementText,
  IN_MEMORY,
  orderValues,
  type Sql,
  type Statement,
  StoreError,
  type StoreErrorCode,
} from '../database.ts';
import { GroupCommit } from './group-commit.ts';

/** How long a statement waits for another process's lock, in ms. */
const BUSY_TIMEOUT_MS = 5_000;
/**
 * The number of pages in the log before a checkpoint copies them into the database; SQLite's
 * default is 1,000. The same pages change with every message, so fewer checkpoints copy fewer
 * pages: this yields 12 % more answers per second and uses 6 % less processor time.
 */
const LOG_PAGES = 4_000;
/** The size to which the log is truncated: `LOG_PAGES` of 4 kB. */
const LARGEST_LOG_BYTES = 16 * 1024 * 1024;

interface SqliteOptions {
  readonly path: string;
  readonly name: string;
  /** The initial content of an in-memory test database, as serialized by SQLite. */
  readonly content?: Uint8Array | undefined;
  /** Called with the text of each query; tests use it to check query plans. */
  readonly onQuery?: (text: string) => void;
}

/** Opens or creates a SQLite file that only its owner may read. */
export function openSqlite(options: SqliteOptions): Database {
  const explain = (thrown: unknown) => explainSqliteFailure(options.name, thrown);
  try {
    const isNew = options.path !== IN_MEMORY && createPrivateFile(options.path);
    const sqlite = new DatabaseSync(options.path, { timeout: BUSY_TIMEOUT_MS });
    try {
      if (options.content !== undefined) sqlite.deserialize(options.content);
      configureConnection(sqlite, isNew);
    } catch (reason) {
      sqlite.close();
      throw reason;
    }
    return createSqliteDatabase(sqlite, options, explain);
  } catch (reason) {
    throw explain(reason);
  }
}

/**
 * Creates the database with private permissions before SQLite opens it, because SQLite gives its
 * side files the mode of the database. Returns whether the file is empty.
 */
function createPrivateFile(path: string): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
  const { mode, size } = statSync(path);
  if ((mode & 0o077) !== 0) chmodSync(path, 0o600);
  return size === 0;
}

/**
 * FULL syncs the log on each commit. With NORMAL, a power cut may lose the last commits, which must
 * not happen to messages already confirmed to the platform (D01). A later FULL commit also syncs
 * earlier NORMAL commits.
 */
const SYNCHRONOUS: Readonly<Record<Durability, string>> = {
  'power-cut': 'pragma synchronous = full',
  process: 'pragma synchronous = normal',
};

function configureConnection(sqlite: DatabaseSync, isNew: boolean): void {
  // Lets retention return free pages to the disk; changing this setting on an existing file would
  // require a write.
  if (isNew) sqlite.exec('pragma auto_vacuum = incremental');
  // A long read, such as a backup, makes the log grow; the next checkpoint truncates it again.
  sqlite.exec(`pragma journal_mode = wal; pragma journal_size_limit = ${LARGEST_LOG_BYTES}`);
  sqlite.exec(`pragma wal_autocheckpoint = ${LOG_PAGES}`);
  sqlite.exec(SYNCHRONOUS['power-cut']);
  // Overwrites deleted content on disk, because `/forget` would otherwise miss copies in freed
  // pages.
  sqlite.exec('pragma secure_delete = on');
  sqlite.exec('pragma foreign_keys = on');
  // Keeps savepoint journals in memory, because they need not be durable. Otherwise, SQLite writes
  // a temporary file as soon as a journal exceeds 64 kB, which the commit of a single turn can do
  // (0.1 ms).
  sqlite.exec('pragma temp_store = memory');
}

function createSqliteDatabase(
  sqlite: DatabaseSync,
  options: SqliteOptions,
  explain: (thrown: unknown) => StoreError,
): Database {
  const prepared = new StatementCache(sqlite, options.onQuery);
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
  const closed = () => new StoreError('store-closed', `${options.name} is already closed.`);
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
    writePriority: (work) => transact(work, 'process'),
    writeUnlimited: (work) => transact(work, 'power-cut'),
    // An open file has a single connection, so there is no other connection to check.
    onConnect: () => undefined,
    historyVersion() {
      // The pragma's value changes whenever another process, such as a command, commits to the
      // file.
      const { data_version: seen } = prepared.text('pragma data_version').get() ?? {};
      if (seen !== foreign) foreignChanges += 1;
      foreign = Number(seen);
      return prepared.historyVersion + foreignChanges;
    },
    async close() {
      if (!open) return;
      open = false;
      await transactions.idle();
      // Earlier reads finish first, within this turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      sqlite.close();
    },
  };
}

/**
 * Usually, there are a few dozen composed statements; copying a backup's rows creates more, which
 * may be evicted.
 */
const CAPACITY = 300;

/** A prepared statement, and whether it may change a chat's history. */
interface CachedStatement {
  readonly query: StatementSync;
  readonly rewrites: boolean;
}

/**
 * Matches statements that change history entries or mark parts as undelivered. Updates to
 * deliveries in progress and appended entries do not count.
 */
const REWRITES = /\b(update|delete from) "?(transcript|outbox)\b/;
const ON_ITS_WAY = /^update outbox set (state = '(pending|sending|sent)'|sender =)/;

/**
 * Caches a connection's prepared statements, because preparing a statement costs more than running
 * most of them.
 */
class StatementCache {
  readonly #sqlite: DatabaseSync;
  readonly #onQuery: (text: string) => void;
  readonly #statements = new Map<Statement, CachedStatement>();
  readonly #texts = new BoundedMap<string, CachedStatement>(CAPACITY);
  #historyVersion = 0;

  constructor(sqlite: DatabaseSync, onQuery: (text: string) => void = () => undefined) {
    this.#sqlite = sqlite;
    this.#onQuery = onQuery;
  }

  /** The number of statements so far that have rewritten history. */
  get historyVersion(): number {
    return this.#historyVersion;
  }

  /**
   * Returns a prepared statement that is run right away; throws `node:sqlite` errors for invalid
   * SQL.
   */
  get(statement: Statement): StatementSync {
    if (statement.isComposed) return this.text(getStatementText('sqlite', statement));
    let made = this.#statements.get(statement);
    if (made === undefined) {
      made = this.#prepare(getStatementText('sqlite', statement));
      this.#statements.set(statement, made);
    }
    return this.#toRun(made);
  }

  text(text: string): StatementSync {
    let made = this.#texts.get(text);
    if (made === undefined) {
      made = this.#prepare(text);
      this.#texts.set(text, made);
    }
    return this.#toRun(made);
  }

  #toRun({ query, rewrites }: CachedStatement): StatementSync {
    if (rewrites) this.#historyVersion += 1;
    return query;
  }

  #prepare(text: string): CachedStatement {
    this.#onQuery(text);
    const rewrites = REWRITES.test(text) && !ON_ITS_WAY.test(text);
    return { query: this.#sqlite.prepare(text), rewrites };
  }
}

/**
 * Runs queries on the only connection: within the open transaction, or outside of transactions,
 * where each query waits until none is open.
 */
class SqliteSql implements Sql {
  readonly #prepared: StatementCache;
  readonly #isBusy: () => Promise<void> | null;

  constructor(prepared: StatementCache, isBusy: () => Promise<void> | null) {
    this.#prepared = prepared;
    this.#isBusy = isBusy;
  }

  async all<P, R>(statement: Statement<P, R>, ...params: BoundArguments<P>): Promise<R[]> {
    if (this.#isBusy() !== null) await this.#free();
    return this.#prepared.get(statement).all(...orderValues(statement, params)) as R[];
  }

  async get<P, R>(
    statement: Statement<P, R>,
    ...params: BoundArguments<P>
  ): Promise<R | undefined> {
    if (this.#isBusy() !== null) await this.#free();
    return this.#prepared.get(statement).get(...orderValues(statement, params)) as R | undefined;
  }

  async run<P>(statement: Statement<P>, ...params: BoundArguments<P>): Promise<number> {
    if (this.#isBusy() !== null) await this.#free();
    return Number(this.#prepared.get(statement).run(...orderValues(statement, params)).changes);
  }

  send<P>(statement: Statement<P>, ...params: BoundArguments<P>): void {
    this.#prepared.get(statement).run(...orderValues(statement, params));
  }

  async #free(): Promise<void> {
    for (let busy = this.#isBusy(); busy !== null; busy = this.#isBusy()) await busy;
  }
}

type SqliteExplanation = readonly [code: StoreErrorCode, message: (name: string) => string];

const UNWRITABLE: SqliteExplanation = [
  'store-unwritable',
  (name) =>
    `Parley cannot write ${name}. Give the user that runs Parley write access to the file and its folder, or choose another data folder.`,
];
const FULL: SqliteExplanation = [
  'store-full',
  (name) => `The disk that holds ${name} is full; nothing was written. Free some space on it.`,
];
const DAMAGED: SqliteExplanation = [
  'store-damaged',
  (name) =>
    `${name} is damaged or is not a Parley database. Restore a backup with "parley restore FILE", or move it away to start with an empty one.`,
];
const BUSY: SqliteExplanation = [
  'store-busy',
  (name) => `Another program has locked ${name}. Try again, or stop that program.`,
];
const FAILED: SqliteExplanation = ['store-failed', (name) => `A query on ${name} failed.`];

/** SQLite's primary result codes (sqlite.org/rescode.html) with a specific remedy. */
const BY_RESULT_CODE: ReadonlyMap<number, SqliteExplanation> = new Map([
  [3, UNWRITABLE],
  [5, BUSY],
  [6, BUSY],
  [8, UNWRITABLE],
  [11, DAMAGED],
  [13, FULL],
  [14, UNWRITABLE],
  [26, DAMAGED],
]);

const BY_SYSTEM_CODE: ReadonlyMap<string, SqliteExplanation> = new Map([
  ...['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOENT', 'ELOOP'].map(
    (code): [string, SqliteExplanation] => [code, UNWRITABLE],
  ),
  ['ENOSPC', FULL],
  ['EDQUOT', FULL],
]);

/** Converts an error of SQLite or the file system about the database `name` into a StoreError. */
export function explainSqliteFailure(name: string, thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const [code, message] = findExplanation(thrown);
  return new StoreError(code, `${message(name)} (${reasonOf(thrown)})`, thrown);
}

function findExplanation(thrown: unknown): SqliteExplanation {
  if (!(thrown instanceof Error)) return FAILED;
  if ('errcode' in thrown && typeof thrown.errcode === 'number') {
    // The low byte is the primary code; the other bytes contain details.
    return BY_RESULT_CODE.get(thrown.errcode & 0xff) ?? FAILED;
  }
  if ('code' in thrown && typeof thrown.code === 'string') {
    return BY_SYSTEM_CODE.get(thrown.code) ?? FAILED;
  }
  return FAILED;
}
