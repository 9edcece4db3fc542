import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers';
import { BoundedMap, reasonOf } from '@parley/core';
import {
  type Bound,
  type Database,
  type Durability,
  IN_MEMORY,
  type Sql,
  type Statement,
  StoreError,
  type StoreErrorCode,
  textFor,
  valuesOf,
} from '../database.ts';
import { GroupCommit } from './group-commit.ts';

/** The time for which a statement waits for a lock of another process. */
const BUSY_TIMEOUT_MS = 5_000;
/**
 * Pages in the log before they are copied into the database; SQLite's default is 1,000. The same pages change
 * with every message, so rarer copies are fewer: 12 % more answers a second, 6 % less processor time.
 */
const LOG_PAGES = 4_000;
/** The size of the log that is left: `LOG_PAGES` of 4 kB. */
const LARGEST_LOG_BYTES = 16 * 1024 * 1024;

/** The options of `openSqlite`: the file, and what to call it in messages. */
interface SqliteOptions {
  readonly path: string;
  readonly name: string;
  /** For tests: what a database in memory holds at first, as SQLite serializes it. */
  readonly content?: Uint8Array | undefined;
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
      if (options.content !== undefined) sqlite.deserialize(options.content);
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
    writePriority: (work) => transact(work, 'process'),
    writeUnlimited: (work) => transact(work, 'power-cut'),
    // A file has one connection as long as it is open.
    onConnect: () => undefined,
    historyVersion() {
      // It changes with every commit of another process on the file, such as a command's.
      const { data_version: seen } = prepared.text('pragma data_version').get() ?? {};
      if (seen !== foreign) foreignChanges += 1;
      foreign = Number(seen);
      return prepared.historyVersion + foreignChanges;
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

/** Texts that are composed: a few dozen; rows of a backup make more, and those may fall out. */
const CAPACITY = 300;

/** A prepared statement, and whether it may change what the history of a chat reads like. */
interface Made {
  readonly query: StatementSync;
  readonly rewrites: boolean;
}

/**
 * Changes entries of the history, or says of a part that it did not arrive; a part on its way to its chat
 * is not meant, nor are entries that are appended.
 */
const REWRITES = /\b(update|delete from) "?(transcript|outbox)\b/;
const ON_ITS_WAY = /^update outbox set (state = '(pending|sending|sent)'|sender =)/;

/** Prepared statements of one connection, because preparing costs more than running most of them. */
class Prepared {
  readonly #sqlite: DatabaseSync;
  readonly #onQuery: (text: string) => void;
  readonly #statements = new Map<Statement, Made>();
  readonly #texts = new BoundedMap<string, Made>(CAPACITY);
  #historyVersion = 0;

  constructor(sqlite: DatabaseSync, onQuery: (text: string) => void = () => undefined) {
    this.#sqlite = sqlite;
    this.#onQuery = onQuery;
  }

  /** The number of statements that rewrote history. */
  get historyVersion(): number {
    return this.#historyVersion;
  }

  /** The statement, to be run at once. Throws what `node:sqlite` throws for a text that is no statement. */
  get(statement: Statement): StatementSync {
    if (statement.isComposed) return this.text(textFor('sqlite', statement));
    let made = this.#statements.get(statement);
    if (made === undefined) {
      made = this.#prepare(textFor('sqlite', statement));
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

  #toRun({ query, rewrites }: Made): StatementSync {
    if (rewrites) this.#historyVersion += 1;
    return query;
  }

  #prepare(text: string): Made {
    this.#onQuery(text);
    const rewrites = REWRITES.test(text) && !ON_ITS_WAY.test(text);
    return { query: this.#sqlite.prepare(text), rewrites };
  }
}

/**
 * Runs queries on the only connection: within the open transaction, or outside of all, where each
 * query waits until no transaction is open.
 */
class SqliteSql implements Sql {
  readonly #prepared: Prepared;
  readonly #isBusy: () => Promise<void> | null;

  constructor(prepared: Prepared, isBusy: () => Promise<void> | null) {
    this.#prepared = prepared;
    this.#isBusy = isBusy;
  }

  async all<P, R>(statement: Statement<P, R>, ...params: Bound<P>): Promise<R[]> {
    if (this.#isBusy() !== null) await this.#free();
    return this.#prepared.get(statement).all(...valuesOf(statement, params)) as R[];
  }

  async get<P, R>(statement: Statement<P, R>, ...params: Bound<P>): Promise<R | undefined> {
    if (this.#isBusy() !== null) await this.#free();
    return this.#prepared.get(statement).get(...valuesOf(statement, params)) as R | undefined;
  }

  async run<P>(statement: Statement<P>, ...params: Bound<P>): Promise<number> {
    if (this.#isBusy() !== null) await this.#free();
    return Number(this.#prepared.get(statement).run(...valuesOf(statement, params)).changes);
  }

  send<P>(statement: Statement<P>, ...params: Bound<P>): void {
    this.#prepared.get(statement).run(...valuesOf(statement, params));
  }

  async #free(): Promise<void> {
    for (let busy = this.#isBusy(); busy !== null; busy = this.#isBusy()) await busy;
  }
}

type Explanation = readonly [code: StoreErrorCode, message: (name: string) => string];

const UNWRITABLE: Explanation = [
  'store-unwritable',
  (name) =>
    `Parley cannot write ${name}. Give the user that runs Parley write access to the file and its folder, or choose another data folder.`,
];
const FULL: Explanation = [
  'store-full',
  (name) => `The disk that holds ${name} is full; nothing was written. Make room on it.`,
];
const DAMAGED: Explanation = [
  'store-damaged',
  (name) =>
    `${name} is damaged or is not a database of Parley. Put a backup back with "parley restore FILE", or move it away to start with an empty one.`,
];
const BUSY: Explanation = [
  'store-busy',
  (name) => `Another program holds ${name} locked. Try again, or stop that program.`,
];
const FAILED: Explanation = ['store-failed', (name) => `A query on ${name} failed.`];

/** SQLite's primary result codes (sqlite.org/rescode.html) that have a remedy of their own. */
const BY_RESULT_CODE: ReadonlyMap<number, Explanation> = new Map([
  [3, UNWRITABLE],
  [5, BUSY],
  [6, BUSY],
  [8, UNWRITABLE],
  [11, DAMAGED],
  [13, FULL],
  [14, UNWRITABLE],
  [26, DAMAGED],
]);

const BY_SYSTEM_CODE: ReadonlyMap<string, Explanation> = new Map([
  ...['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOENT', 'ELOOP'].map(
    (code): [string, Explanation] => [code, UNWRITABLE],
  ),
  ['ENOSPC', FULL],
  ['EDQUOT', FULL],
]);

/** Explains what SQLite or the file system threw about the database called `name`. */
export function explainSqliteFailure(name: string, thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const [code, message] = explanationOf(thrown);
  return new StoreError(code, `${message(name)} (${reasonOf(thrown)})`, thrown);
}

function explanationOf(thrown: unknown): Explanation {
  if (!(thrown instanceof Error)) return FAILED;
  if ('errcode' in thrown && typeof thrown.errcode === 'number') {
    // The low byte is the primary code, the rest says in which corner it happened.
    return BY_RESULT_CODE.get(thrown.errcode & 0xff) ?? FAILED;
  }
  if ('code' in thrown && typeof thrown.code === 'string') {
    return BY_SYSTEM_CODE.get(thrown.code) ?? FAILED;
  }
  return FAILED;
}
