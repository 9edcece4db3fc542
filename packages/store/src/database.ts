import { isAbsolute, normalize } from 'node:path';
import { ParleyError } from '@parley/core';

/** Runs statements; inside `write`, in the caller's transaction. */
export interface Sql {
  all<P, R>(statement: Statement<P, R>, ...params: BoundArguments<P>): Promise<R[]>;
  /** Returns the first row. */
  get<P, R>(statement: Statement<P, R>, ...params: BoundArguments<P>): Promise<R | undefined>;
  /** Resolves to the number of rows inserted, changed or deleted. */
  run<P>(statement: Statement<P>, ...params: BoundArguments<P>): Promise<number>;
  /**
   * Queues a write whose result is not needed; available only in a transaction. PostgreSQL receives
   * the statement together with the next one; if it fails, the transaction fails.
   */
  send<P>(statement: Statement<P>, ...params: BoundArguments<P>): void;
}

/**
 * Which failures a write must survive once it has resolved. `power-cut` (the default): a process
 * crash and a power cut. `process`: only a process crash; a power cut may undo the write until the
 * next `power-cut` write. On SQLite, `process` saves a sync to disk; on PostgreSQL there is no
 * difference.
 */
export type Durability = 'power-cut' | 'process';

/**
 * A common interface to SQLite and PostgreSQL, covering the few ways in which they differ. Errors
 * are StoreErrors.
 */
export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  /** Runs queries that do not change anything and do not need a common snapshot. */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `work` as one transaction: committed when it resolves, rolled back when it rejects. `work`
   * may await only its queries, because on SQLite all other writers wait for the transaction.
   */
  write<T>(work: (sql: Sql) => Promise<T>, durability?: Durability): Promise<T>;
  /** Runs one statement as a transaction and resolves to the number of rows it changed. */
  change<P>(
    durability: Durability,
    statement: Statement<P>,
    ...params: BoundArguments<P>
  ): Promise<number>;
  /**
   * Like `write`, but never waits for a connection under load; meant for leases. `work` should
   * await as little as possible.
   */
  writePriority<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Like `write`, but each statement may take up to an hour; meant for migrations and for moving to
   * PostgreSQL.
   */
  writeUnlimited<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Registers a check that runs on each new server connection before the connection is used. The
   * check's `write` uses that same connection, because all others may be waiting for the check too.
   * If the check rejects, the connection is not used.
   */
  onConnect(check: (write: WriteTransaction) => Promise<void>): void;
  /**
   * A version that changes whenever cached history may be outdated; appending entries does not
   * change it. Null if other processes may change the history unnoticed.
   */
  historyVersion(): number | null;
  close(): Promise<void>;
}

/** Runs `work` as one transaction, like `Database.write`. */
export type WriteTransaction = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

export type SqlValue = string | number | null | Uint8Array;

/**
 * An SQL statement's text, written as a constant beside the function that runs it and compiled once
 * by each database. Parameters are named, as in `:name`, and the text must not contain any other
 * colon. The text is in SQLite's dialect: additions for PostgreSQL go in `/*pg … *\/`, and
 * SQLite-only parts go in `/*sqlite … *\/`. A list is bound as JSON: `in (select value from
 * json_each(:names))`, with `cast(value as bigint)` for numbers.
 */
export interface Statement<Params = unknown, Row = unknown> {
  readonly text: string;
  /** Parameter names in the order in which they first appear. */
  readonly names: readonly string[];
  /** Set if the text was composed for one call; such statements are not kept prepared. */
  readonly isComposed?: true;
  /** Carries the parameter and row types; it has no value at run time. */
  readonly types?: { readonly params: Params; readonly row: Row };
}

type TextBefore<
  Text extends string,
  End extends string,
> = Text extends `${infer Head}${End}${string}` ? Head : Text;
type LeadingName<Text extends string> = TextBefore<
  TextBefore<TextBefore<TextBefore<Text, ' '>, ','>, ')'>,
  '\n'
>;
/** Extracts the names of all parameters from a statement text. */
type ParameterNames<Text extends string, Found = never> = Text extends `${string}:${infer Rest}`
  ? ParameterNames<Rest, Found | LeadingName<Rest>>
  : Found;
type StatementParams<Text extends string> = {
  readonly [Name in ParameterNames<Text> & string]: SqlValue;
};

/** The arguments for a statement; none if the text has no parameters. */
export type BoundArguments<Params> = keyof Params extends never
  ? []
  : string extends keyof Params
    ? [params?: Params]
    : [params: Params];

/** Creates a statement; `rows` declares the type of its rows, if it returns any. */
export function defineStatement<const Text extends string>(
  text: Text,
): Statement<StatementParams<Text>, never> & {
  rows<Row>(): Statement<StatementParams<Text>, Row>;
} {
  const names = [...new Set(Array.from(text.matchAll(PARAMETER), ([, name]) => name ?? ''))];
  const made = { text: text.trim(), names };
  return { ...made, rows: () => made };
}

/** Parameter values by name. */
export type ParameterValues = Readonly<Record<string, SqlValue>>;

/**
 * Creates a statement whose text is composed at run time, for example with a condition for a table
 * that is chosen at run time. Values are still passed as parameters.
 */
export function defineDynamicStatement(
  text: string,
): Statement<ParameterValues, never> & { rows<Row>(): Statement<ParameterValues, Row> } {
  const made = { ...defineStatement(text), isComposed: true } as const;
  return { ...made, rows: () => made };
}

/**
 * Builds an SQL expression for the text at `index` of an item in a list that is bound as JSON and
 * whose items are lists.
 */
export function selectJsonItem<const Index extends number>(index: Index) {
  return `(/*pg cast(*/value/*pg  as json)*/ ->> ${index})` as const;
}

const PARAMETER = /:(\w+)/g;

/**
 * Returns the text in a database's dialect, with numbered parameters. With a bare parameter as
 * `limit`, SQLite would prepare the statement again for each value, which takes longer than running
 * it; the `+` prevents this.
 */
export function getStatementText(
  dialect: 'sqlite' | 'postgres',
  { text, names }: Statement,
): string {
  const own =
    dialect === 'sqlite'
      ? text.replaceAll(/\/\*sqlite (.*?)\*\//g, '$1').replaceAll('limit :', 'limit +:')
      : text
          .replaceAll(/\/\*pg (.*?)\*\//g, '$1')
          .replaceAll('json_each(', 'json_array_elements_text(');
  const sign = dialect === 'sqlite' ? '?' : '$';
  return own.replaceAll(PARAMETER, (_, name: string) => `${sign}${names.indexOf(name) + 1}`);
}

/** Returns the values in the order of `names`; throws if one is missing. */
export function orderValues({ names, text }: Statement, bound: readonly unknown[]): SqlValue[] {
  // `BoundArguments` already checks the value types at compile time, so only the presence of each value is
  // checked here.
  const params = bound[0] as Readonly<Record<string, SqlValue>> | undefined;
  return names.map((name) => {
    const value = params?.[name];
    if (value === undefined) throw new TypeError(`No value for :${name} in ${text}`);
    return value;
  });
}

/** Encodes a value as JSON text, because the two databases have no richer type in common. */
export function encodeJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/** Parses JSON text without validating its shape, for content that other packages define. */
export function decodeJson(text: string): unknown {
  return JSON.parse(text);
}

/**
 * Parses and validates JSON text; throws StoreError `store-damaged`, naming `what`, if the text is
 * invalid.
 */
export function decodeCheckedJson<T>(
  schema: { parse(value: unknown): T },
  text: string,
  what: string,
): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (reason) {
    const advice =
      'Restore the database from a backup, or report this if it was not edited by hand.';
    throw new StoreError('store-damaged', `The stored ${what} cannot be read. ${advice}`, reason);
  }
}

/** A database address; `name` does not contain the password and may be shown to users. */
export type StoreAddress =
  | { readonly dialect: 'sqlite'; readonly path: string; readonly name: string }
  | { readonly dialect: 'postgres'; readonly url: string; readonly name: string };

/** The path that SQLite uses for an in-memory database. */
export const IN_MEMORY = ':memory:';

/**
 * Parses `sqlite:/abs/parley.db`, `sqlite::memory:` or `postgres://user@host/database`. Throws
 * StoreError `store-url` for any other form; a relative path is refused because it would depend on
 * the working directory.
 */
export function parseStoreUrl(url: string): StoreAddress {
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length);
    if (path === IN_MEMORY) return { dialect: 'sqlite', path, name: 'database in memory' };
    if (!isAbsolute(path)) throw createUrlError(`The SQLite path "${path}" is not absolute.`);
    return { dialect: 'sqlite', path: normalize(path), name: normalize(path) };
  }
  if (!/^postgres(ql)?:\/\//.test(url))
    throw createUrlError('The database URL does not start with a known scheme.');
  if (!URL.canParse(url)) throw createUrlError('The PostgreSQL URL cannot be read.');
  const { host, pathname } = new URL(url);
  return { dialect: 'postgres', url, name: `postgres://${host}${pathname}` };
}

// The URL is not shown, because it may contain a password.
function createUrlError(what: string): StoreError {
  const advice = 'Write sqlite:/absolute/path/parley.db or postgres://user:password@host/database.';
  return new StoreError('store-url', `${what} ${advice}`);
}

/** Kinds of database failure, each with one remedy. */
export type StoreErrorCode =
  | 'store-url'
  | 'store-newer'
  | 'store-older'
  | 'store-missing'
  | 'store-not-empty'
  | 'store-damaged'
  | 'store-unwritable'
  | 'store-full'
  | 'store-busy'
  | 'store-unreachable'
  | 'store-refused'
  | 'store-closed'
  | 'store-part-state'
  | 'store-fenced'
  | 'store-rewound'
  | 'store-pending-work'
  | 'store-no-way-back'
  | 'store-failed';

// Failures after which the same call may succeed later without any intervention. A full disk is not
// included, because a person must free space.
const RETRYABLE: ReadonlySet<StoreErrorCode> = new Set(['store-busy', 'store-unreachable']);

/**
 * The only error that repositories throw. The message names the database but never contains a
 * password.
 */
export class StoreError extends ParleyError {
  declare readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: RETRYABLE.has(code), cause });
  }
}
