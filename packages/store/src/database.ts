import { isAbsolute, normalize } from 'node:path';
import { ParleyError } from '@parley/core';

/** The target of queries; in `write` it is the caller's own transaction. */
export interface Sql {
  all<P, R>(statement: Statement<P, R>, ...params: Bound<P>): Promise<R[]>;
  /** The first row. */
  get<P, R>(statement: Statement<P, R>, ...params: Bound<P>): Promise<R | undefined>;
  /** Resolves to the number of rows that were inserted, changed or deleted. */
  run<P>(statement: Statement<P>, ...params: Bound<P>): Promise<number>;
  /**
   * Only in a transaction: a write whose result decides nothing. PostgreSQL gets it together with
   * what follows; if it fails, the transaction fails.
   */
  send<P>(statement: Statement<P>, ...params: Bound<P>): void;
}

/**
 * The events that a write must survive. `power-cut` (the default): everything, once it has resolved. `process`: the
 * death of the process; a power cut may undo it until the next write of the other kind. On SQLite that spares a sync
 * to disk; PostgreSQL makes no difference.
 */
export type Durability = 'power-cut' | 'process';

/** The few things in which the two databases differ, behind one face. Errors are StoreErrors. */
export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  /** Runs queries that change nothing and need no common snapshot. */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `work` as one transaction; written when it resolves, nothing written when it rejects.
   * `work` awaits nothing but its queries, since on SQLite all others wait for it.
   */
  write<T>(work: (sql: Sql) => Promise<T>, durability?: Durability): Promise<T>;
  /** One statement as a transaction of its own; resolves to the number of rows it changed. */
  change<P>(durability: Durability, statement: Statement<P>, ...params: Bound<P>): Promise<number>;
  /** Like `write`, for leases: no load keeps it waiting for a connection. It awaits as little as can be. */
  writePriority<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Like `write`, for a migration or a move to PostgreSQL, whose statements may each take an hour. */
  writeUnlimited<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Called for each new connection to a server before it is used, with what runs a transaction on that very
   * connection: all others may be waiting for the same. A connection whose check rejects is not used.
   */
  onConnect(check: (write: WriteHere) => Promise<void>): void;
  /**
   * Another number as soon as stored history may read otherwise, entries that are appended apart; what is
   * remembered of it then is out of date. Null where other processes may do so unseen.
   */
  historyVersion(): number | null;
  close(): Promise<void>;
}

/** Runs `work` as one transaction, as `Database.write` does. */
export type WriteHere = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

/** The value of a column or parameter. */
export type SqlValue = string | number | null | Uint8Array;

/**
 * SQL that is written once, as a constant beside the function that runs it, and compiled once by each
 * database. Parameters are named, `:name`, and a colon is nowhere else in the text. The text is
 * SQLite's; what PostgreSQL needs besides is in `/*pg … *\/`, what SQLite alone takes in
 * `/*sqlite … *\/`. A list is bound as JSON:
 * `in (select value from json_each(:names))`, with `cast(value as bigint)` for numbers.
 *
 * @example
 * const OWNER = statement('select owner from lease where name = :name').rows<{ owner: string | null }>();
 * const row = await sql.get(OWNER, { name });
 */
export interface Statement<Params = unknown, Row = unknown> {
  readonly text: string;
  /** The parameters, in the order of their first use. */
  readonly names: readonly string[];
  /** The text was composed for this call: databases do not keep it prepared. */
  readonly isComposed?: true;
  /** Types only: what is bound, and what a row holds. */
  readonly types?: { readonly params: Params; readonly row: Row };
}

type Until<Text extends string, End extends string> = Text extends `${infer Head}${End}${string}`
  ? Head
  : Text;
type NameAtStart<Text extends string> = Until<Until<Until<Until<Text, ' '>, ','>, ')'>, '\n'>;
/** The names of all parameters in a text. */
type NamesIn<Text extends string, Found = never> = Text extends `${string}:${infer Rest}`
  ? NamesIn<Rest, Found | NameAtStart<Rest>>
  : Found;
type ParamsOf<Text extends string> = { readonly [Name in NamesIn<Text> & string]: SqlValue };

/** The arguments of a call: none where the text names no parameter. */
export type Bound<Params> = keyof Params extends never
  ? []
  : string extends keyof Params
    ? [params?: Params]
    : [params: Params];

/** Makes a statement; `rows` says what its rows hold, where it gives any. */
export function statement<const Text extends string>(
  text: Text,
): Statement<ParamsOf<Text>, never> & { rows<Row>(): Statement<ParamsOf<Text>, Row> } {
  const names = [...new Set(Array.from(text.matchAll(PARAMETER), ([, name]) => name ?? ''))];
  const made = { text: text.trim(), names };
  return { ...made, rows: () => made };
}

/** Values of parameters by their names. */
export type Values = Readonly<Record<string, SqlValue>>;

/**
 * The same for a text that is composed while the process runs, such as a condition on a table that a rule
 * names. Values are parameters here, too.
 */
export function dynamicStatement(
  text: string,
): Statement<Values, never> & { rows<Row>(): Statement<Values, Row> } {
  const made = { ...statement(text), isComposed: true } as const;
  return { ...made, rows: () => made };
}

/** The text at `index` of an item, where the items of a list bound as JSON are lists themselves. */
export function jsonItem<const Index extends number>(index: Index) {
  return `(/*pg cast(*/value/*pg  as json)*/ ->> ${index})` as const;
}

const PARAMETER = /:(\w+)/g;

/**
 * The text as one of the databases takes it, with numbered parameters. A bare parameter as `limit` would make
 * SQLite prepare the statement again for each value, which takes longer than running it; `+` hides it.
 */
export function textFor(dialect: 'sqlite' | 'postgres', { text, names }: Statement): string {
  const own =
    dialect === 'sqlite'
      ? text.replaceAll(/\/\*sqlite (.*?)\*\//g, '$1').replaceAll('limit :', 'limit +:')
      : text
          .replaceAll(/\/\*pg (.*?)\*\//g, '$1')
          .replaceAll('json_each(', 'json_array_elements_text(');
  const sign = dialect === 'sqlite' ? '?' : '$';
  return own.replaceAll(PARAMETER, (_, name: string) => `${sign}${names.indexOf(name) + 1}`);
}

/** The values in the order of `names`. Throws when one is missing. */
export function valuesOf({ names, text }: Statement, bound: readonly unknown[]): SqlValue[] {
  // `Bound` has checked the values; only their presence is looked at again.
  const params = bound[0] as Readonly<Record<string, SqlValue>> | undefined;
  return names.map((name) => {
    const value = params?.[name];
    if (value === undefined) throw new TypeError(`No value for :${name} of ${text}`);
    return value;
  });
}

/** A value as JSON text. Text, because the two databases agree on nothing richer. */
export function toJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/** JSON text as the value it was written from; for content whose shape others own. */
export function fromJson(text: string): unknown {
  return JSON.parse(text);
}

/**
 * JSON text as a checked value. Throws StoreError `store-damaged`, naming `what`, when it is not
 * what this version writes.
 */
export function fromCheckedJson<T>(
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

/** The address of the database. `name` may be shown to people: it holds no password. */
export type StoreAddress =
  | { readonly dialect: 'sqlite'; readonly path: string; readonly name: string }
  | { readonly dialect: 'postgres'; readonly url: string; readonly name: string };

/** The path by which SQLite knows a database that lives in memory only. */
export const IN_MEMORY = ':memory:';

/**
 * Reads `sqlite:/abs/parley.db`, `sqlite::memory:` or `postgres://user@host/database`.
 * Throws StoreError `store-url` for anything else; a relative path would depend on who starts us.
 */
export function parseStoreUrl(url: string): StoreAddress {
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length);
    if (path === IN_MEMORY) return { dialect: 'sqlite', path, name: 'database in memory' };
    if (!isAbsolute(path)) throw badUrl(`The SQLite path "${path}" is not absolute.`);
    return { dialect: 'sqlite', path: normalize(path), name: normalize(path) };
  }
  if (!/^postgres(ql)?:\/\//.test(url)) throw badUrl('The database URL has no known scheme.');
  if (!URL.canParse(url)) throw badUrl('The PostgreSQL URL cannot be read.');
  const { host, pathname } = new URL(url);
  return { dialect: 'postgres', url, name: `postgres://${host}${pathname}` };
}

// The URL itself may hold a password, so it is not repeated.
function badUrl(what: string): StoreError {
  const advice = 'Write sqlite:/absolute/path/parley.db or postgres://user:password@host/database.';
  return new StoreError('store-url', `${what} ${advice}`);
}

/** The faults of a database, each with one remedy. */
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
  | 'store-failed';

// The same call may succeed later by itself. A full disk is not here: a person must make room.
const RETRYABLE: ReadonlySet<StoreErrorCode> = new Set(['store-busy', 'store-unreachable']);

/** The only error the repositories throw; the message names the database, never a password. */
export class StoreError extends ParleyError {
  declare readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: RETRYABLE.has(code), cause });
  }
}
