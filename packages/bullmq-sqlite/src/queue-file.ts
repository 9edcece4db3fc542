import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { QueueFileClosedError, SqliteQueueError } from './errors.ts';
import { EXPIRY_INDEX, KEPT, SCHEMA, SCHEMA_VERSION } from './queue-schema.ts';

/**
 * With `normal`, a commit survives a process crash, but a power cut may lose the last commits. With
 * `full`, a commit also survives a power cut, at the cost of one fsync each.
 */
export type Synchronous = 'normal' | 'full';

/** The options for opening a queue file; see `SqliteQueuesOptions`. */
export interface QueueFileOptions {
  readonly synchronous: Synchronous;
  readonly busyTimeoutMs: number;
  readonly events: boolean;
}

/**
 * SQLite's result codes for "another connection holds the lock", "the disk is full" and "the disk
 * failed".
 */
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const SQLITE_IOERR = 10;
const RETRY_AFTER_MS = 10;

/** A prepared statement and its last result. */
interface PreparedStatement {
  readonly statement: StatementSync;
  readonly writes: boolean;
  last:
    | { readonly afterWrites: number; readonly params: SQLInputValue[]; row: unknown }
    | undefined;
}

const READS = /^\s*(?:SELECT|PRAGMA|BEGIN|COMMIT|SAVEPOINT|RELEASE)\b/;

/**
 * An open database with cached statements and transactions. The class does not contain queue logic.
 */
export class QueueFile {
  readonly path: string;
  /** Whether events are stored for `QueueEvents` and `waitUntilFinished`. */
  readonly keepsEvents: boolean;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, PreparedStatement>();
  /** The number of statements so far that may have changed rows. */
  #writes = 0;
  #open = true;
  /** The transactions that will be committed together at the end of this turn. */
  #group: PromiseWithResolvers<void> | undefined;

  /** Creates the file and its folder if missing; throws {@link SqliteQueueError}. */
  constructor(path: string, { synchronous, busyTimeoutMs, events }: QueueFileOptions) {
    this.path = path;
    this.keepsEvents = events;
    try {
      if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
      this.#db = new DatabaseSync(path, { timeout: busyTimeoutMs });
      this.#enterWalMode(busyTimeoutMs);
      this.#db.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA temp_store = MEMORY;`);
      this.transaction(() => this.#createTables());
    } catch (error) {
      if (error instanceof SqliteQueueError) throw error;
      throw new SqliteQueueError(
        'queue-file-unusable',
        `The queue file ${path} cannot be opened. Check the folder's permissions and the disk; the file may be deleted while no process uses it.`,
        { cause: error },
      );
    }
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /**
   * Returns the first row or undefined. STRICT tables guarantee the column types that `Row`
   * declares.
   */
  get<Row>(sql: string, ...params: SQLInputValue[]): Row | undefined {
    return this.#statement(sql).get(...params) as Row | undefined;
  }

  /**
   * Like {@link get}, but returns the previous result if nothing has been written since. A file on
   * disk is always queried, because another process may have written it.
   */
  getAgain<Row>(sql: string, ...params: SQLInputValue[]): Row | undefined {
    if (this.path !== ':memory:') return this.get(sql, ...params);
    const prepared = this.#prepared(sql);
    const { last } = prepared;
    const isKnown =
      last?.afterWrites === this.#writes && last.params.every((param, at) => param === params[at]);
    if (isKnown) return last.row as Row | undefined;
    const row = prepared.statement.get(...params);
    prepared.last = { afterWrites: this.#writes, params, row };
    return row as Row | undefined;
  }

  /** Returns all rows; see {@link get} about `Row`. */
  all<Row>(sql: string, ...params: SQLInputValue[]): Row[] {
    return this.#statement(sql).all(...params) as Row[];
  }

  /** Runs a statement and returns the number of changed rows. */
  run(sql: string, ...params: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...params).changes);
  }

  /**
   * Runs `work` in one write transaction and rolls it back if `work` throws. `IMMEDIATE` takes the
   * write lock first, so that two processes never both read and then both try to write.
   */
  transaction<T>(work: () => T): T {
    this.#commitGroup();
    this.#begin();
    return this.#commit(work);
  }

  /**
   * Like {@link transaction}, but shares one commit with all other calls in the same event loop
   * turn. If `work` throws, only its own changes are rolled back. Resolves when the commit is done;
   * a failed commit rejects all of its calls.
   */
  async groupedTransaction<T>(work: () => T): Promise<T> {
    const result = this.#group === undefined ? this.#openGroup(work) : this.#join(work);
    await this.#group?.promise;
    return result;
  }

  /**
   * Runs queries that all see the same snapshot, even if other processes commit in the meantime.
   */
  snapshot<T>(questions: () => T): T {
    this.#commitGroup();
    this.run('BEGIN');
    return this.#commit(questions);
  }

  /** A number that changes when another connection, usually in another process, commits. */
  foreignChanges(): number {
    return this.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
  }

  /** Merges the write-ahead log into the file and closes it; closing twice is harmless. */
  close(): void {
    if (!this.#open) return;
    this.#commitGroup();
    this.#open = false;
    this.#statements.clear();
    this.#db.close();
  }

  /** Runs the first transaction of a group; if it fails, no group is opened. */
  #openGroup<T>(work: () => T): T {
    this.#begin();
    const result = this.#orRollBack(work);
    this.#group = Promise.withResolvers();
    // Every caller awaits this promise, but there may be no caller left when the file is closed.
    this.#group.promise.catch(() => {});
    // Runs after the pending microtasks, so that their calls join the group.
    process.nextTick(() => this.#commitGroup());
    return result;
  }

  #join<T>(work: () => T): T {
    this.run('SAVEPOINT joined');
    try {
      const result = work();
      this.run('RELEASE joined');
      return result;
    } catch (error) {
      if (this.#db.isTransaction) {
        this.run('ROLLBACK TO joined');
        this.run('RELEASE joined');
      } else {
        // SQLite has rolled back the whole transaction, as it does when the disk is full.
        this.#group?.reject(this.#explained(error));
        this.#group = undefined;
      }
      throw this.#explained(error);
    }
  }

  #explained(error: unknown): unknown {
    const failure = getSqliteErrorCode(error);
    if (failure === SQLITE_FULL) {
      return new SqliteQueueError(
        'queue-disk-full',
        `The disk that holds the queue file ${this.path} is full, so this call stored nothing. Free some space and try again.`,
        { retryable: true, cause: error },
      );
    }
    if (failure !== SQLITE_IOERR) return error;
    return new SqliteQueueError(
      'queue-disk-failed',
      `Reading or writing the queue file ${this.path} failed, so this call stored nothing. Check the disk and its free space, and try again.`,
      { retryable: true, cause: error },
    );
  }

  #commitGroup(): void {
    const group = this.#group;
    if (group === undefined) return;
    this.#group = undefined;
    try {
      this.#orRollBack(() => this.run('COMMIT'));
      group.resolve();
    } catch (error) {
      group.reject(error);
    }
  }

  #begin(): void {
    try {
      this.run('BEGIN IMMEDIATE');
    } catch (error) {
      if (!isBusyError(error)) throw error;
      throw new SqliteQueueError(
        'queue-file-busy',
        `Another process has kept the queue file ${this.path} locked for too long. Try again; if it persists, look for a stopped process or a stuck disk.`,
        { retryable: true, cause: error },
      );
    }
  }

  #commit<T>(work: () => T): T {
    return this.#orRollBack(() => {
      const result = work();
      this.run('COMMIT');
      return result;
    });
  }

  #orRollBack<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (this.#db.isTransaction) this.run('ROLLBACK');
      throw this.#explained(error);
    }
  }

  /**
   * SQLite does not wait for other connections in this case, so this retries if several processes
   * create the file simultaneously.
   */
  #enterWalMode(busyTimeoutMs: number): void {
    const giveUpAt = performance.now() + busyTimeoutMs;
    for (;;) {
      try {
        this.#db.exec('PRAGMA journal_mode = WAL');
        return;
      } catch (error) {
        if (!isBusyError(error) || performance.now() > giveUpAt) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_AFTER_MS);
      }
    }
  }

  #statement(sql: string): StatementSync {
    const { statement, writes } = this.#prepared(sql);
    if (writes) this.#writes += 1;
    return statement;
  }

  #prepared(sql: string): PreparedStatement {
    if (!this.#open) throw new QueueFileClosedError(this.path);
    let prepared = this.#statements.get(sql);
    if (!prepared) {
      const statement = this.#db.prepare(sql);
      prepared = { statement, writes: !READS.test(sql), last: undefined };
      this.#statements.set(sql, prepared);
    }
    return prepared;
  }

  #createTables(): void {
    const version = this.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
    if (version !== 0 && version !== SCHEMA_VERSION) {
      throw new SqliteQueueError(
        'queue-file-layout',
        `The queue file ${this.path} has layout version ${version}, but this release reads version ${SCHEMA_VERSION}. Delete the file while no process uses it, or run the release that wrote it.`,
      );
    }
    if (version === 0) {
      this.#db.exec(SCHEMA);
      this.#db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    }
    this.#db.exec(EXPIRY_INDEX);
    const counts = "SELECT 1 AS found FROM sqlite_schema WHERE name = 'kept'";
    if (this.get(counts) === undefined) this.#db.exec(KEPT);
  }
}

/** Returns a SQLite error's primary result code; the higher bits of the code are details. */
function getSqliteErrorCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return Number(error.errcode) & 0xff;
}

const isBusyError = (error: unknown): boolean => getSqliteErrorCode(error) === SQLITE_BUSY;
