import type { RandomChance } from '../engine/chance.ts';
import {
  createSqliteError,
  type DiskBehavior,
  type OpenDatabase,
  SQLITE_BUSY,
  SQLITE_CANTOPEN,
  SQLITE_FULL,
  SQLITE_IOERR,
} from '../engine/databases.ts';
import { SyncedDatabase } from '../engine/synced-database.ts';
import type { VirtualTime } from '../engine/virtual-time.ts';
import type { DatabaseWeather } from '../faults.ts';

/** The time in ms that SQLite waits for a lock in a database opened by Parley. */
const BUSY_TIMEOUT_MS = 5_000;
/**
 * The probability of a checkpoint. In production, the log is copied after thousands of pages, which
 * a minute of messages does not fill.
 */
const CHECKPOINTS = 0.02;

export interface DiskOptions {
  readonly time: VirtualTime;
  readonly chance: RandomChance;
  /** The database of the deployment; all other files never fail. */
  readonly path: string;
  /** The path of its synced copy. */
  readonly copy: string;
  /** Whether the file represents a server: a commit reported as failed may have happened. */
  readonly isServer: boolean;
  /** Whether the log is sometimes copied to the file; only for scenes that check it. */
  readonly checkpoints: boolean;
  readonly is: (weather: DatabaseWeather) => boolean;
}

/**
 * The disk of the simulated machine as seen by its database: which data is synced, and which
 * operations fail.
 */
export class SimulatedDisk implements DiskBehavior {
  readonly synced: SyncedDatabase;
  /** The number of commits by processes so far. */
  commits = 0;
  readonly #options: DiskOptions;
  #isAtWork = false;

  constructor(options: DiskOptions) {
    this.#options = options;
    this.synced = new SyncedDatabase(options.path, options.copy);
  }

  beforeOpen(path: string): void {
    const { is, chance } = this.#options;
    if (path !== this.#options.path || !is('database-refuses') || chance.happens(0.5)) return;
    throw createSqliteError(SQLITE_CANTOPEN, 'unable to open database file');
  }

  beforeStatement(database: OpenDatabase, text: string): void {
    const { path, is } = this.#options;
    if (database.path !== path || database.process === undefined || this.#isAtWork) return;
    // Statements that end a failed transaction always succeed.
    if (/^\s*(rollback|release|pragma)\b/i.test(text)) return;
    if (is('database-slow')) this.#wait();
    if (is('database-refuses')) this.#refuse(text);
    if (is('database-full')) this.#fill(database, text);
    if (is('database-breaks')) this.#break(database, text);
  }

  afterCommit(database: OpenDatabase): void {
    const { path, checkpoints, chance } = this.#options;
    if (database.path !== path) return;
    this.synced.note(database.isSynced);
    this.commits += 1;
    if (!checkpoints || this.#isAtWork || !chance.happens(CHECKPOINTS)) return;
    this.#run(database, 'pragma wal_checkpoint(passive)');
    this.synced.note(false);
  }

  /** `node:sqlite` blocks, so no other code in the process runs in the meantime. */
  #wait(): void {
    const { time, chance } = this.#options;
    time.standStill(chance.happens(0.01) ? chance.between(1_000, 9_000) : chance.between(0, 40));
  }

  #refuse(text: string): void {
    const { time, chance } = this.#options;
    if (!/^\s*begin\b/i.test(text) || !chance.happens(0.3)) return;
    time.standStill(BUSY_TIMEOUT_MS);
    throw createSqliteError(SQLITE_BUSY, 'database is locked');
  }

  /**
   * SQLite may then roll back the whole transaction by itself (sqlite.org/lang_transaction.html).
   */
  #fill(database: OpenDatabase, text: string): void {
    const { chance } = this.#options;
    if (!isWrite(text) || !chance.happens(0.1)) return;
    const isUndone = chance.happens(0.5);
    if (isUndone && database.handle.isTransaction) this.#run(database, 'rollback');
    throw createSqliteError(SQLITE_FULL, 'database or disk is full');
  }

  #break(database: OpenDatabase, text: string): void {
    const { chance, isServer } = this.#options;
    if (!/^\s*commit\b/i.test(text) || !chance.happens(0.2)) return;
    const isDone = isServer && chance.happens(0.5);
    this.#run(database, isDone ? 'commit' : 'rollback');
    throw createSqliteError(SQLITE_IOERR, 'disk I/O error');
  }

  #run({ handle }: OpenDatabase, text: string): void {
    this.#isAtWork = true;
    try {
      handle.exec(text);
    } finally {
      this.#isAtWork = false;
    }
  }
}

function isWrite(text: string): boolean {
  return /^\s*(insert|update|delete|commit)\b/i.test(text);
}
