import type { Clock, NewId } from '@parley/core';
import type { ForgottenValues, HeldWorkCounts } from './backup/settle-unfinished.ts';
import { type Database, defineStatement, type Sql, type WriteTransaction } from './database.ts';
import { compareStoreMarks, type StoreMark } from './store-mark.ts';

/**
 * The last time the database was found to have been rolled back, and the work that was held back.
 */
export interface StoreRollback {
  /** The number of rollbacks detected so far. */
  readonly count: number;
  /** When the rollback was detected, in ms since the Unix epoch. */
  readonly at: number;
  readonly turns: number;
  readonly parts: number;
}

export interface StateDeps {
  readonly clock: Clock;
  readonly newId: NewId;
  /** Adapter values to drop when the database was rolled back, as after a restore. */
  readonly forget: readonly ForgottenValues[];
  /**
   * Called when this process has detected that the database was rolled back, and all affected work
   * has been held back.
   */
  readonly onSetback: (setback: StoreRollback) => void;
}

/**
 * How far the counter is raised above the value seen by the process that settles a rollback. Other
 * processes, Redis and data folders may have seen more of the lost history and would otherwise
 * detect a second rollback. The counter grows by a few per second at most, so this margin lasts for
 * decades.
 */
const BEYOND_LOST_MARKS = 1_000_000_000;

type FoundMark = StoreMark & { readonly setbacks: number };

/**
 * Detects that a database was rolled back, using the `store_state` table. Each process raises the
 * counter together with other periodic writes, never with a message. The counter is compared on
 * each new connection before the connection runs any query, because a failover breaks all
 * connections.
 */
export class StoreState {
  readonly #database: Database;
  readonly #deps: StateDeps;
  #seen: StoreMark | null = null;
  #setbacks = 0;
  #settling: Promise<void> | null = null;

  constructor(database: Database, deps: StateDeps) {
    this.#database = database;
    this.#deps = deps;
  }

  /**
   * The highest mark that this process has seen, to be stored in a place that outlives the process.
   */
  get seen(): StoreMark | null {
    return this.#seen;
  }

  /** The number of rollbacks of this database that this process has detected. */
  get setbacks(): number {
    return this.#setbacks;
  }

  /** Adopts a mark that was stored elsewhere: in the data folder or in Redis. */
  expect(mark: StoreMark): void {
    if (this.#seen === null || this.#seen.name !== mark.name) this.#seen ??= mark;
    else if (mark.counter > this.#seen.counter) this.#seen = mark;
  }

  /**
   * Raises the counter in a separate transaction. The raised counter is synced before it is stored
   * elsewhere, because a power cut that undid it would look like a database rollback.
   */
  async advance(): Promise<void> {
    const before = this.#seen;
    const found = await this.#database.write((sql) => this.raise(sql), 'power-cut');
    await this.judge(before, found);
  }

  /**
   * Raises the counter in the caller's transaction. After the commit, the caller passes the
   * previously seen mark to `judge`.
   */
  async raise(sql: Sql): Promise<FoundMark | null> {
    return (await sql.get(RAISE)) ?? null;
  }

  /** Checks the database on a new connection before that connection is used. */
  async check(write: WriteTransaction): Promise<void> {
    const before = this.#seen;
    if (before === null) return;
    const found = await write((sql) => sql.get(LOOK));
    if (found === undefined || compareStoreMarks(before, found) !== 'behind') return;
    await this.#settle(before, found.setbacks, write);
  }

  /** Interprets a raised counter, and settles the database if it was rolled back. */
  async judge(before: StoreMark | null, found: FoundMark | null): Promise<void> {
    if (found === null) {
      await this.#introduce(before);
      return;
    }
    // The counter has just been raised by one, so the earlier value is compared.
    const verdict = compareStoreMarks(before, { ...found, counter: found.counter - 1 });
    this.#setbacks = found.setbacks;
    if (verdict !== 'behind' || before === null) return this.#saw(found);
    await this.#settle(before, found.setbacks, (work) => this.#database.writeUnlimited(work));
  }

  /** Reads the last rollback; null if the database was never rolled back. */
  async lastSetback(): Promise<StoreRollback | null> {
    const row = await this.#database.read((sql) => sql.get(LAST_SETBACK));
    return row === undefined || row.at === null ? null : { ...row, at: row.at };
  }

  #saw({ name, counter }: StoreMark): void {
    const seen = this.#seen;
    if (seen?.name !== name || counter > seen.counter) this.#seen = { name, counter };
  }

  /**
   * Gives a name to a database that has none: a new database or, if this process has seen an
   * earlier mark, a copy from before databases had names.
   */
  async #introduce(before: StoreMark | null): Promise<void> {
    const { newId } = this.#deps;
    const mark = { name: before?.name ?? newId('database'), counter: 0 };
    await this.#database.write((sql) => sql.run(INTRODUCE, mark));
    if (before === null) return this.advance();
    await this.#settle(before, 0, (work) => this.#database.writeUnlimited(work));
  }

  /**
   * Settles the database once per deployment, even if several processes detect the rollback at the
   * same moment.
   */
  #settle(before: StoreMark, setbacks: number, write: WriteTransaction): Promise<void> {
    this.#settling ??= this.#holdBack(before, setbacks, write).finally(() => {
      this.#settling = null;
    });
    return this.#settling;
  }

  async #holdBack(before: StoreMark, setbacks: number, write: WriteTransaction): Promise<void> {
    const { clock, forget, onSetback } = this.#deps;
    const { settleUnfinishedWork } = await import('./backup/settle-unfinished.ts');
    const done = await write(async (sql) => {
      const found = await sql.get(LOCK);
      if (found === undefined || found.setbacks > setbacks) return null;
      const now = clock();
      const held: HeldWorkCounts = await settleUnfinishedWork(sql, forget, now);
      const counter = Math.max(before.counter, found.counter) + BEYOND_LOST_MARKS;
      const { turns, parts } = held;
      await sql.run(SET_BACK, { counter, now, turns, parts });
      return {
        mark: { name: found.name, counter },
        setback: { count: found.setbacks + 1, at: now, turns, parts },
      };
    });
    if (done === null) {
      // Another process was faster and has raised the counter above the value that this process has
      // seen.
      this.#seen = null;
      return;
    }
    this.#seen = done.mark;
    this.#setbacks = done.setback.count;
    onSetback(done.setback);
  }
}

const MARK = 'name, counter, setbacks';

const RAISE = defineStatement(
  `update store_state set counter = counter + 1 where id = 1 returning ${MARK}`,
).rows<FoundMark>();

const LOOK = defineStatement(`select ${MARK} from store_state where id = 1`).rows<FoundMark>();

const LOCK = defineStatement(
  `select ${MARK} from store_state where id = 1 /*pg for update*/`,
).rows<FoundMark>();

/** Inserts the row for a new database or for a restored one. */
export const INTRODUCE = defineStatement(`
  insert into store_state (id, name, counter, setbacks) values (1, :name, :counter, 0)
  on conflict (id) do nothing`);

const SET_BACK = defineStatement(`
  update store_state set counter = :counter, setbacks = setbacks + 1, setback_at = :now,
    setback_turns = :turns, setback_parts = :parts where id = 1`);

const LAST_SETBACK = defineStatement(`
  select setbacks as count, setback_at as at, setback_turns as turns, setback_parts as parts
  from store_state where id = 1`).rows<{
  readonly count: number;
  readonly at: number | null;
  readonly turns: number;
  readonly parts: number;
}>();
