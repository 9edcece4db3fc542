import { DatabaseSync } from 'node:sqlite';
import { SqliteQueueError } from './errors.ts';

/**
 * The openers of a queue file in all processes: each opener holds a shared lock on a file beside it, which ends with
 * its process, however that ends. SQLite's own locks, because they work alike on every system.
 */
export class Openers {
  readonly #file: string;
  readonly #busyTimeoutMs: number;
  readonly #db: DatabaseSync;

  /** Waits up to `busyTimeoutMs` for one that is {@link alone}. */
  constructor(file: string, busyTimeoutMs: number) {
    this.#file = file;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#db = new DatabaseSync(`${file}-openers`);
    this.#share();
  }

  /** Runs `work` while no other opener has the file, and none can get it. Throws {@link SqliteQueueError} if there is one. */
  alone<T>(work: () => T): T {
    this.#db.exec('COMMIT; PRAGMA busy_timeout = 0');
    try {
      this.#db.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      this.#share();
      throw new SqliteQueueError(
        'queue-file-shared',
        `The queue file ${this.#file} is open elsewhere too, in another process or twice in this one, so its active jobs may be in work. Close the other opener first, or leave it to the workers, which return stalled jobs.`,
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

  /** A read transaction that stays open holds the shared lock. */
  #share(): void {
    this.#db.exec(
      `PRAGMA busy_timeout = ${this.#busyTimeoutMs}; BEGIN; SELECT 1 FROM sqlite_schema`,
    );
  }
}
