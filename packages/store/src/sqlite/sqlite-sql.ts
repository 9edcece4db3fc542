import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { BoundedMap } from '@parley/core';
import { type Bound, type Sql, type Statement, textFor, valuesOf } from '../database.ts';

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
export class Prepared {
  readonly #sqlite: DatabaseSync;
  readonly #onQuery: (text: string) => void;
  readonly #statements = new Map<Statement, Made>();
  readonly #texts = new BoundedMap<string, Made>(CAPACITY);
  #rewritten = 0;

  constructor(sqlite: DatabaseSync, onQuery: (text: string) => void = () => undefined) {
    this.#sqlite = sqlite;
    this.#onQuery = onQuery;
  }

  /** How often something was run that rewrites history. */
  get rewritten(): number {
    return this.#rewritten;
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
    if (rewrites) this.#rewritten += 1;
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
export class SqliteSql implements Sql {
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
