import { type Connection, Query, type types } from 'pg';

/** One statement; `name` is of one that this connection may keep prepared. */
export interface Question {
  readonly text: string;
  readonly values?: readonly Bindable[];
  readonly name?: string;
}

type Bindable = Buffer | string | null;

export interface Answer {
  readonly rows: unknown[];
  /** `INSERT`, `SELECT`, `COMMIT` … */
  readonly command: string;
  readonly rowCount: number;
}

export interface Asked {
  readonly question: Question;
  resolve(answer: Answer): void;
  reject(reason: unknown): void;
}

export type ParserOf = Pick<typeof types, 'getTypeParser'>['getTypeParser'];
type Columns = readonly { readonly name: string; readonly parse: (text: string) => unknown }[];

/** What a connection has prepared: the columns of each statement by its name. */
export type Prepared = Map<string, Columns>;

export interface BatchConnection {
  readonly prepared: Prepared;
  readonly parserOf: ParserOf;
  /** For all answers of a batch together. */
  readonly ms: number;
  /** Is called with null once all are answered, else with what went wrong. */
  readonly onEnd: (reason: unknown) => void;
}

const NO_COLUMNS: Columns = [];
/** `INSERT 0 1`, `UPDATE 1`, `COMMIT`: the number of rows is last. */
const COMPLETED = /^(\w+).*?(\d+)?$/;

/**
 * Statements that go out together, with one `sync` behind them: one write of the client, one of the server.
 * Outside a transaction they are one transaction. After a failure the server skips the rest, and all of them
 * are rejected with it.
 */
export class QueryBatch extends Query {
  readonly query_timeout: number;
  callback: (reason: unknown) => void;
  readonly #asked: readonly Asked[];
  readonly #prepared: Prepared;
  readonly #parserOf: ParserOf;
  readonly #answers: Answer[] = [];
  /** Of the statement whose answer arrives. */
  #columns: Columns = NO_COLUMNS;
  #rows: unknown[] = [];

  constructor(asked: readonly Asked[], { prepared, parserOf, ms, onEnd }: BatchConnection) {
    super('');
    this.query_timeout = ms;
    this.#asked = asked;
    this.#prepared = prepared;
    this.#parserOf = parserOf;
    // `pg` puts its time limit around it.
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

  #send(connection: Connection, { text, name = '', values = [] }: Question, sent: Set<string>) {
    const isKnown = name !== '' && (this.#prepared.has(name) || sent.has(name));
    if (!isKnown) {
      // A batch that failed may have left it prepared.
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
      else reject(reason ?? new Error('PostgreSQL left a statement without an answer.'));
    }
  }
}

interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

/** Bytes go out as they are, everything else as text. */
export function bindable(value: unknown): Bindable {
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  if (typeof value === 'object')
    throw new TypeError('PostgreSQL is given text, numbers and bytes only.');
  return String(value);
}
