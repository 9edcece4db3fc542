import { type Connection, Query, type types } from 'pg';
import {
  type BoundArguments,
  getStatementText,
  orderValues,
  type Sql,
  type Statement,
} from '../database.ts';

/**
 * A connection borrowed from the pool, on which queries are answered in order. Queries from the
 * same event loop turn are sent together.
 */
export interface PooledConnection {
  ask(question: PostgresQuery): Promise<QueryResponse>;
  begin(): Promise<unknown>;
  release(): void;
}

/** Borrows a connection on which each result may take up to `ms` milliseconds. */
export type AcquireConnection = (ms: number) => Promise<PooledConnection>;

/** A statement; `name` is set if connections may keep it prepared. */
export interface PostgresQuery {
  readonly text: string;
  readonly values?: readonly BindableValue[];
  readonly name?: string;
}

type BindableValue = Buffer | string | null;

export interface QueryResponse {
  readonly rows: unknown[];
  /** The command named in the reply: `INSERT`, `SELECT`, `COMMIT` … */
  readonly command: string;
  readonly rowCount: number;
}

export interface PendingQuery {
  readonly question: PostgresQuery;
  resolve(answer: QueryResponse): void;
  reject(reason: unknown): void;
}

export type TypeParserLookup = Pick<typeof types, 'getTypeParser'>['getTypeParser'];
type ResultColumns = readonly {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}[];

/** A connection's prepared statements: the columns of each statement by name. */
export type PreparedStatements = Map<string, ResultColumns>;

interface BatchConnection {
  readonly prepared: PreparedStatements;
  readonly parserOf: TypeParserLookup;
  /** The time limit for all results of a batch together, in ms. */
  readonly ms: number;
  /** Called with null once all queries are answered, or with the failure. */
  readonly onEnd: (reason: unknown) => void;
}

const NO_COLUMNS: ResultColumns = [];
/** Matches `INSERT 0 1`, `UPDATE 1`, `COMMIT`; the last number is the row count. */
const COMPLETED = /^(\w+).*?(\d+)?$/;

/**
 * Statements sent together with a single `sync`, so that client and server each write once. Outside
 * a transaction, the statements form one transaction. After a failure, the server skips the
 * remaining statements, and all statements of the batch are rejected.
 */
export class QueryBatch extends Query {
  readonly query_timeout: number;
  callback: (reason: unknown) => void;
  readonly #asked: readonly PendingQuery[];
  readonly #prepared: PreparedStatements;
  readonly #parserOf: TypeParserLookup;
  readonly #answers: QueryResponse[] = [];
  /** The columns of the statement whose result is arriving. */
  #columns: ResultColumns = NO_COLUMNS;
  #rows: unknown[] = [];

  constructor(asked: readonly PendingQuery[], { prepared, parserOf, ms, onEnd }: BatchConnection) {
    super('');
    this.query_timeout = ms;
    this.#asked = asked;
    this.#prepared = prepared;
    this.#parserOf = parserOf;
    // `pg` wraps this callback to enforce its time limit.
    this.callback = (reason) => {
      onEnd(reason);
      this.#settle(reason);
    };
  }

  override readonly submit = (connection: Connection): void => {
    connection.stream.cork();
    const sent = new Set<string>();
    for (const { question } of this.#asked) this.#send(connection, question, sent);
    connection.sync();
    connection.stream.uncork();
    this.#expect();
  };

  #send(
    connection: Connection,
    { text, name = '', values = [] }: PostgresQuery,
    sent: Set<string>,
  ) {
    const isKnown = name !== '' && (this.#prepared.has(name) || sent.has(name));
    if (!isKnown) {
      // Closes the statement, because a failed batch may have left it prepared.
      if (name !== '') connection.close({ type: 'S', name }, true);
      connection.parse({ name, text, types: [] }, true);
      sent.add(name);
    }
    connection.bind({ statement: name, values: [...values] }, true);
    if (!this.#prepared.has(name)) connection.describe({ type: 'P', name: '' }, true);
    connection.execute({ portal: '' }, true);
  }

  #expect(): void {
    const name = this.#asked[this.#answers.length]?.question.name;
    this.#columns = (name === undefined ? undefined : this.#prepared.get(name)) ?? NO_COLUMNS;
    this.#rows = [];
  }

  handleRowDescription({ fields }: RowDescription): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: this.#parserOf(dataTypeID, 'text'),
    }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (const [index, { name, parse }] of this.#columns.entries()) {
      const text = fields[index] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const [, command = '', count] = COMPLETED.exec(text) ?? [];
    const name = this.#asked[this.#answers.length]?.question.name;
    this.#answers.push({ rows: this.#rows, command, rowCount: Number(count ?? 0) });
    if (name !== undefined) this.#prepared.set(name, this.#columns);
    this.#expect();
  }

  handleError(reason: unknown): void {
    this.callback(reason);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  #settle(reason: unknown): void {
    for (const [index, { resolve, reject }] of this.#asked.entries()) {
      const answer = this.#answers[index];
      if (reason === null && answer !== undefined) resolve(answer);
      else reject(reason ?? new Error('PostgreSQL did not answer a statement.'));
    }
  }
}

interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

/** Bytes are bound unchanged, all other values as text. */
function toBindable(value: unknown): BindableValue {
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  if (typeof value === 'object')
    throw new TypeError('PostgreSQL accepts only text, numbers and bytes.');
  return String(value);
}

/** The PostgreSQL text of each statement, and the name under which connections prepare it. */
export class NamedStatements {
  readonly #known = new Map<Statement, { readonly text: string; readonly name: string }>();

  question(statement: Statement, bound: readonly unknown[]): PostgresQuery {
    const values = orderValues(statement, bound).map(toBindable);
    if (statement.isComposed) return { text: getStatementText('postgres', statement), values };
    let known = this.#known.get(statement);
    if (known === undefined) {
      known = { text: getStatementText('postgres', statement), name: `parley${this.#known.size}` };
      this.#known.set(statement, known);
    }
    return { ...known, values };
  }
}

type SendQuery = (question: PostgresQuery) => Promise<QueryResponse>;

/** Runs queries on one connection, or on any connection in the pool. */
class PostgresSql implements Sql {
  readonly #named: NamedStatements;
  readonly #ask: SendQuery;

  constructor(named: NamedStatements, ask: SendQuery) {
    this.#named = named;
    this.#ask = ask;
  }

  async all<P, R>(statement: Statement<P, R>, ...params: BoundArguments<P>): Promise<R[]> {
    // The statement declares the type of its rows.
    return (await this.#ask(this.#named.question(statement, params))).rows as R[];
  }

  async get<P, R>(
    statement: Statement<P, R>,
    ...params: BoundArguments<P>
  ): Promise<R | undefined> {
    return (await this.all(statement, ...params))[0];
  }

  async run<P>(statement: Statement<P>, ...params: BoundArguments<P>): Promise<number> {
    return (await this.#ask(this.#named.question(statement, params))).rowCount;
  }

  send<P>(statement: Statement<P>, ...params: BoundArguments<P>): void {
    // The failure is ignored here, because the transaction reports it.
    this.#ask(this.#named.question(statement, params)).catch(() => undefined);
  }
}

/** Runs queries outside of transactions, each on any free connection. */
export function createPoolSql(named: NamedStatements, lend: AcquireConnection, ms: number): Sql {
  return new PostgresSql(named, async (question) => {
    const lent = await lend(ms);
    try {
      return await lent.ask(question);
    } finally {
      lent.release();
    }
  });
}

/**
 * Runs `work` as a transaction. `begin` is sent with the first query, and `commit` right after the
 * last one, without waiting for statements queued with `send`.
 */
export async function runTransaction<T>(
  named: NamedStatements,
  lend: () => ReturnType<AcquireConnection>,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const lent = await lend();
  const answers: Promise<void>[] = [];
  const failures: unknown[] = [];
  const heard: SendQuery = (question) => noted(lent.ask(question));
  const noted = <T>(answer: Promise<T>): Promise<T> => {
    answers.push(
      answer.then(
        () => undefined,
        (reason) => void failures.push(reason),
      ),
    );
    return answer;
  };
  try {
    noted(lent.begin());
    const value = await work(new PostgresSql(named, heard));
    const committed = heard({ text: 'commit', name: 'parley_commit' });
    await Promise.all(answers);
    // The first failure is thrown, because it caused the others; `commit` rolls back a transaction
    // with a failure.
    if (failures.length > 0) throw failures[0];
    const { command } = await committed;
    if (command !== 'COMMIT') throw new Error(`PostgreSQL replied to commit with ${command}.`);
    return value;
  } catch (reason) {
    const cause = isAbortedTransaction(reason) ? (failures[0] ?? reason) : reason;
    await lent.ask({ text: 'rollback' }).catch(() => undefined);
    await Promise.all(answers);
    throw cause;
  } finally {
    lent.release();
  }
}

/**
 * Whether the error is "current transaction is aborted", which follows the error of an earlier
 * query.
 */
function isAbortedTransaction(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && reason.code === '25P02';
}
