import type { Database, SqlValue } from '../database.ts';

type Dialect = Database['dialect'];

/** How long rows are kept, in ms, with the names of the settings; Infinity for forever. */
export interface RetentionAges {
  /**
   * Messages, answers, turns and their journals, approvals, and the runs of sub-agents and standing
   * tasks.
   */
  readonly messages: number;
  /** The conversation text that the model reads. */
  readonly history: number;
  /** Decisions not to accept a message. */
  readonly decisions: number;
  readonly prompts: number;
  readonly spend: number;
}

/** The name that a table or column had before a migration. */
export interface FormerName {
  readonly name: string;
  /** The migration that changed the name. */
  readonly until: number;
}

/** One column, in PostgreSQL's SQL. */
export interface Column<Value extends SqlValue = SqlValue> {
  readonly sql: string;
  /**
   * Set if the column contains human text, either plain or within JSON. Absent for columns with
   * ids, states, addresses and numbers.
   */
  readonly words?: 'plain' | 'json';
  /** The migration that added the column; absent if the column was created with the table. */
  readonly since?: number;
  readonly formerly?: FormerName;
  /** Carries the value type of the column; it has no value at run time. */
  readonly value?: Value;
}

/** How a table's old rows are removed. */
export interface AgeRule<Name extends string = string> {
  /** A row is kept for the longest of these ages. */
  readonly keeps: readonly (keyof RetentionAges)[];
  /** The column with the time when the row was written or last used. */
  readonly at: Name;
  /** The columns of the index that determines the reading order; the primary key by default. */
  readonly by?: readonly Name[];
  /**
   * Set if older rows do not come first in the reading order, so that all rows are read once a day.
   */
  readonly isUnsorted?: true;
  /** Set if `at` is a day such as 2026-11-22. */
  readonly isDay?: true;
  /** An SQL condition for the rows to read; other rows do not have an age yet. */
  readonly among?: string;
  /** Added to the age, in ms. */
  readonly longer?: number;
  /**
   * An SQL condition for rows that are needed at any age; rows that others refer to are always
   * needed.
   */
  readonly needed?: string;
}

/**
 * How to find one person's text in a table:
 * - `rows`: by a condition that may use `:conversation` and the lists `:turns`, `:seqs` and
 *   `:persons`. The condition includes all rows that mix several people's text and can be rebuilt.
 *   With `alsoPhrases`, the other rows lose what the person wrote, as with `phrases`;
 * - `phrases`: the rows mix several people's text and stay, without what the person wrote;
 * - `history`: the history is rewritten without the person's messages;
 * - `parts`: each row records whose text it contains, in any chat (`listPartsWithText`).
 */
export type RowsOfPerson =
  | { readonly by: 'rows'; readonly where: string; readonly alsoPhrases?: true }
  | { readonly by: 'phrases' | 'history' | 'parts' };

/** What `/forget` does with the human text in a table. */
export interface ForgetRule {
  /** How to find a person's text in a group, where other people's text stays. */
  readonly persons: RowsOfPerson;
  /**
   * Whether forgetting a whole conversation deletes rows (the default) or only removes their text.
   */
  readonly whole?: 'rows' | 'texts';
  /** The count that includes the table's rows; `pins` by default. */
  readonly counts?: 'history' | 'messages' | 'answers' | 'steps' | 'pins';
  /**
   * An SQL condition for the rows that belong to `:conversation`; by default, those with this
   * `conversation_id`.
   */
  readonly of?: string;
}

/**
 * A migration's statements other than those for columns. `create` creates the table as it was after
 * that migration.
 */
export type MigrationStatements =
  | readonly string[]
  | ((dialect: Dialect, create: string) => readonly string[]);

/** Describes a table; `Name` is one of its columns. */
export interface Table<Name extends string = string> {
  /** The current columns, in order. */
  readonly columns: Readonly<Record<Name, Column>>;
  /** The primary key, if it consists of several columns. */
  readonly key?: readonly Name[];
  /** Columns that are unique together. */
  readonly unique?: readonly Name[];
  /** Indexes created with the table, by name: the text that follows `create index … on`. */
  readonly indexes?: Readonly<Record<string, string>>;
  /**
   * The migration that created the table; absent for the first one, `apart` if separate statements
   * create it.
   */
  readonly since?: number | 'apart';
  /**
   * The table's former name; the index names changed together with it. Other tables must not refer
   * to the table.
   */
  readonly formerly?: FormerName;
  /** Changes by later migrations, except added columns. Released statements are never edited. */
  readonly later?: Readonly<Record<number, MigrationStatements>>;
  /** How long rows are kept; a string tells `parley storage` what limits them instead of an age. */
  readonly kept: AgeRule<Name> | string;
  /**
   * Required for a table with human text. `apart`: separate code removes the text. `stays`:
   * `/forget` reports that the text stays.
   */
  readonly forget?: ForgetRule | 'apart' | 'stays';
  /** Why a backup leaves out the table's rows; absent if it contains them. */
  readonly notInBackup?: string;
}

/** Describes a table; its columns keep their types. */
export function defineTable<const Columns extends Readonly<Record<string, Column>>>(
  description: Omit<Table<keyof Columns & string>, 'columns'> & { readonly columns: Columns },
): Omit<Table, 'columns'> & { readonly columns: Columns } {
  return description;
}

type NullableUnlessRequired<Rest extends string> = Rest extends `${string}not null${string}`
  ? never
  : null;

function defineColumn<Value extends SqlValue>(type: string, words?: 'plain' | 'json') {
  return <const Rest extends string = ''>(
    rest?: Rest,
  ): Column<Value | NullableUnlessRequired<Rest>> => ({
    sql: rest === undefined ? type : `${type} ${rest}`,
    ...(words !== undefined && { words }),
  });
}

/** Text or JSON without human text: ids, states, addresses, times. */
export const data = defineColumn<string>('text');
export const words = defineColumn<string>('text', 'plain');
export const wordsJson = defineColumn<string>('text', 'json');
export const int = defineColumn<number>('bigint');
export const real = defineColumn<number>('double precision');
export const bytes = defineColumn<Uint8Array>('bytea');

/** A primary key that grows with each row and is never reused. */
export const serial = (): Column<number> => ({ sql: 'bigserial primary key' });

/** A column added by this migration. */
export function addedBy<C extends Column>(migration: number, column: C): C {
  return { ...column, since: migration };
}

/** A column that had another name before this migration. */
export function renamedFrom<C extends Column>(name: string, until: number, column: C): C {
  return { ...column, formerly: { name, until } };
}
