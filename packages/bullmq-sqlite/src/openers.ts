import { DatabaseSync } from 'node:sqlite';
import { SqliteQueueError } from './errors.ts';

/**
 * Tracks the openers of a queue file across processes. Each opener holds a shared lock on a
 * separate file, which is released when the process ends for any reason. The locks are SQLite's
 * own, because these work the same on every system.
 */
export class OpenerRegistry {
  readonly #file: string;
  readonly #busyTimeoutMs: number;
  readonly #db: DatabaseSync;

  /** Waits up to `busyTimeoutMs` for an opener that is {@link alone}. */
  constructor(file: string, busyTimeoutMs: number) {
    this.#file = file;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#db = new DatabaseSync(`${file}-openers`);
    this.#share();
  }

  /**
   * Runs `work` while no other opener has the file open and none can open it. Throws {@link
   * SqliteQueueError} if there is another opener.
   */
  alone<T>(work: () => T): T {
    this.#db.exec('COMMIT; PRAGMA busy_timeout = 0');
    try {
      this.#db.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      this.#share();
      throw new SqliteQueueError(
        'queue-file-shared',
        `The queue file ${this.#file} is also open elsewhere, in another process or twice in this one, so its active jobs may be running. Close it there first, or let the workers return stalled jobs.`,
        { cause: error },
      );
    }
    try {
      return work();
    } finally {
      this.#db.exec('COMMIT');
      this.#share();
    }
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  /** Holds the shared lock by leaving a read transaction open. */
  #share(): void {
    this.#db.exec(
      `PRAGMA busy_timeout = ${this.#busyTimeoutMs}; BEGIN; SELECT 1 FROM sqlite_schema`,
    );
  }
}
