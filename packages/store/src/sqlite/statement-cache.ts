import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { BoundedMap } from '@parley/contracts';

/** Repositories use a few dozen texts; lists of varying length make more, and those may fall out. */
const CAPACITY = 300;

/** A statement and whether running it gives rows. */
export interface Prepared {
  readonly statement: StatementSync;
  readonly givesRows: boolean;
}

/** Prepared statements by their text, because preparing costs more than most of them do. */
export class StatementCache {
  readonly #sqlite: DatabaseSync;
  readonly #prepared = new BoundedMap<string, Prepared>(CAPACITY);

  constructor(sqlite: DatabaseSync) {
    this.#sqlite = sqlite;
  }

  /** Throws what `node:sqlite` throws for a text that is no statement. */
  get(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#sqlite.prepare(text);
    const prepared = { statement, givesRows: statement.columns().length > 0 };
    this.#prepared.set(text, prepared);
    return prepared;
  }
}
