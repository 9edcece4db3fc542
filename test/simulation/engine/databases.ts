import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { simulatedSqlite } from './simulated-sqlite.ts';
import { BEGINNING, type SimulatedProcess, type VirtualTime } from './virtual-time.ts';

/**
 * A placeholder in a statement for the server's own time, which is read when the statement reaches
 * the server, since the process may pause between sending and execution.
 */
export const SERVER_NOW = Number.NaN;

/** A connection opened by a simulated process. */
export interface OpenDatabase {
  readonly path: string;
  readonly process: SimulatedProcess | undefined;
  readonly handle: DatabaseSync;
  /** Whether commits wait for the disk, as set by the last `pragma synchronous`. */
  isSynced: boolean;
  /**
   * Closes the connection and opens another, as a restarted server does; an open transaction is
   * rolled back.
   */
  readonly reconnect: () => void;
}

export const SQLITE_BUSY = 5;
export const SQLITE_IOERR = 10;
export const SQLITE_FULL = 13;
export const SQLITE_CANTOPEN = 14;

/** An error as `node:sqlite` throws it; the code is one of SQLite's primary result codes. */
export function createSqliteError(errcode: number, message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode, errstr: message });
}

/** The behavior of the disk under the databases of the simulation. */
export interface DiskBehavior {
  /** Called before a file is opened; throws as `beforeStatement` does. */
  beforeOpen(path: string): void;
  /** Called before a statement runs; throws the error that SQLite throws when the disk fails. */
  beforeStatement(database: OpenDatabase, text: string): void;
  /** Called after a commit, or a change outside a transaction. */
  afterCommit(database: OpenDatabase): void;
}

/** A disk that never fails and never loses data. */
export const SOUND_DISK: DiskBehavior = {
  beforeOpen() {},
  beforeStatement() {},
  afterCommit() {},
};

/**
 * Tracks every SQLite connection of this thread: which process opened it, when it commits, and how
 * its disk behaves. Connections of killed processes are closed, as the operating system would do,
 * so that their locks end.
 */
export class DatabaseTracker {
  readonly #time: VirtualTime;
  readonly #open = new Set<OpenDatabase>();
  /** Takes effect with the next statement. */
  disk: DiskBehavior = SOUND_DISK;
  /** How far the server's clock is ahead of the simulation's, in ms. */
  serverAhead = 0;
  /** Called with each statement that a process is about to run. */
  watch: (process: SimulatedProcess | undefined, text: string) => void = () => {};

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /**
   * Replaces the connections of `node:sqlite` in modules of the product with connections that this
   * class tracks.
   */
  install(): void {
    const opened = (path: string, handle: DatabaseSync, reconnect: () => void): OpenDatabase => {
      const database = { path, handle, process: this.#time.process, isSynced: true, reconnect };
      this.#open.add(database);
      return database;
    };
    const closed = (database: OpenDatabase) => void this.#open.delete(database);
    const disk = () => this.disk;
    const watch = (database: OpenDatabase, text: string) => this.watch(database.process, text);
    const now = () => this.#time.wallClock();
    const serverNow = () => Math.floor(BEGINNING + this.#time.now + this.serverAhead);
    const valueNow = (value: unknown) => (Number.isNaN(value) ? serverNow() : value);
    const Real = DatabaseSync;
    class Simulated extends Real {
      readonly #database: OpenDatabase;
      /** The pragmas set on this connection, to repeat on its replacement. */
      readonly #pragmas = new Map<string, string>();
      #connections = 1;
      #hasLostTransaction = false;

      constructor(...given: ConstructorParameters<typeof DatabaseSync>) {
        disk().beforeOpen(String(given[0]));
        super(...given);
        this.#database = opened(String(given[0]), this, () => this.#reconnect());
        this.#useClock();
      }

      override exec(text: string): void {
        this.#run(text, () => super.exec(text));
        const [, name] = /^\s*pragma (\w+) =/i.exec(text) ?? [];
        if (name !== undefined) this.#pragmas.set(name, text);
      }

      override prepare(...given: Parameters<DatabaseSync['prepare']>): StatementSync {
        const [text] = given;
        const statement = super.prepare(...given);
        let made = { statement, connection: this.#connections };
        const newest = (): StatementSync => {
          if (made.connection !== this.#connections) {
            made = { statement: super.prepare(...given), connection: this.#connections };
          }
          return made.statement;
        };
        const original = { run: statement.run, get: statement.get, all: statement.all };
        for (const name of ['run', 'get', 'all'] as const) {
          const call = original[name] as (...values: unknown[]) => unknown;
          const run = (...values: unknown[]) =>
            this.#run(text, () => call.apply(newest(), values.map(valueNow)));
          Object.defineProperty(statement, name, { value: run });
        }
        return statement;
      }

      override close(): void {
        closed(this.#database);
        super.close();
      }

      #reconnect(): void {
        this.#hasLostTransaction = this.isTransaction;
        super.close();
        super.open();
        this.#connections += 1;
        this.#useClock();
        for (const text of this.#pragmas.values()) super.exec(text);
      }

      /** SQLite would otherwise read the clock of the machine. */
      #useClock(): void {
        super.function('unixepoch', { varargs: true }, () => now() / 1_000);
      }

      #run<T>(text: string, work: () => T): T {
        if (this.#hasLostTransaction) {
          this.#hasLostTransaction = false;
          throw createSqliteError(SQLITE_IOERR, 'the connection to the simulated server broke');
        }
        watch(this.#database, text);
        disk().beforeStatement(this.#database, text);
        const wasOpen = this.isTransaction;
        const result = work();
        noteSynchronous(this.#database, text);
        const mayHaveCommitted = wasOpen || !/^\s*(select|pragma|begin)\b/i.test(text);
        if (mayHaveCommitted && !this.isTransaction) disk().afterCommit(this.#database);
        return result;
      }
    }
    simulatedSqlite.DatabaseSync = Simulated;
  }

  /** The open connections to a file. */
  of(path: string): readonly OpenDatabase[] {
    return [...this.#open].filter((database) => database.path === path);
  }

  /** Closes the connections of a killed process, or those of the world when undefined. */
  closeAllOf(process: SimulatedProcess | undefined): void {
    for (const database of [...this.#open]) {
      if (database.process !== process) continue;
      if (database.handle.isTransaction) database.handle.exec('rollback');
      database.handle.close();
    }
  }
}

function noteSynchronous(database: OpenDatabase, text: string): void {
  const [, level] = /^\s*pragma synchronous = (\w+)/i.exec(text) ?? [];
  if (level !== undefined) database.isSynced = level === 'full';
}
