/** What a column holds and a parameter may be. */
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
export function composed(
  text: string,
): Statement<Values, never> & { rows<Row>(): Statement<Values, Row> } {
  const made = { ...statement(text), isComposed: true } as const;
  return { ...made, rows: () => made };
}

/** The text at `index` of an item, where the items of a list bound as JSON are lists themselves. */
export function ofListItem<const Index extends number>(index: Index) {
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
