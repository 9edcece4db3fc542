import type { Database, SqlValue } from '../database.ts';

type Dialect = Database['dialect'];

/** How long rows are kept, in ms; Infinity for forever. The names are those of the settings. */
export interface RetentionAges {
  /**
   * Messages, answers, turns and their journals, approvals, and the runs of sub-agents and standing
   * tasks.
   */
  readonly messages: number;
  /** The conversation text that the model reads. */
  readonly history: number;
  /** Why messages were not accepted. */
  readonly decisions: number;
  /** Recorded prompts. */
  readonly prompts: number;
  readonly spend: number;
}

/** The name that a table or column had before a migration. */
export interface FormerName {
  readonly name: string;
  /** The migration that changed it. */
  readonly until: number;
}

/** One column, in PostgreSQL's SQL. */
export interface Column<Value extends SqlValue = SqlValue> {
  readonly sql: string;
  /**
   * Set if it contains human text, either plain or within JSON. Absent for ids, states, addresses
   * and numbers.
   */
  readonly words?: 'plain' | 'json';
  /** The migration that added it; absent if it was created with the table. */
  readonly since?: number;
  readonly formerly?: FormerName;
  /** Used only for types: what a row contains. */
  readonly value?: Value;
}

/** How a table's old rows are removed. */
export interface AgeRule<Name extends string = string> {
  /** A row may reach the longest of these ages. */
  readonly keeps: readonly (keyof RetentionAges)[];
  /** The column with the time the row was written or last used. */
  readonly at: Name;
  /** The columns of the index that determines the reading order; the primary key when absent. */
  readonly by?: readonly Name[];
  /** Set if older rows do not come first in this order, so all rows are read once a day. */
  readonly isUnsorted?: true;
  /** Set if `at` is a day such as 2026-11-22. */
  readonly isDay?: true;
  /** Condition: the rows to read; all others have no age yet. */
  readonly among?: string;
  /** Added to the age, in ms. */
  readonly longer?: number;
  /** Condition: rows that are needed whatever their age. Referenced rows are needed anyway. */
  readonly needed?: string;
}

/**
 * How to find the words of one person in a table:
 * - `rows`: by a condition that may use `:conversation` and the lists `:turns`, `:seqs` and `:persons`.
 *   It includes all rows that mix several people's text and can be rebuilt. With `alsoPhrases`, the
 *   other rows lose what the person wrote, as with `phrases`;
 * - `phrases`: the rows mix several people's text and stay, without what the person wrote;
 * - `history`: the history is rewritten without the person's messages;
 * - `parts`: each row records whose words it contains, in any chat (`listPartsWithText`).
 */
export type RowsOfPerson =
  | { readonly by: 'rows'; readonly where: string; readonly alsoPhrases?: true }
  | { readonly by: 'phrases' | 'history' | 'parts' };

/** What `/forget` does with the human text in a table. */
export interface ForgetRule {
  /** How to find a person's text in a group, where other people keep theirs. */
  readonly persons: RowsOfPerson;
  /**
   * When a whole conversation is forgotten, whether rows are deleted (the default) or only lose
   * their text.
   */
  readonly whole?: 'rows' | 'texts';
  /** The count to which its rows are added; `pins` by default. */
  readonly counts?: 'history' | 'messages' | 'answers' | 'steps' | 'pins';
  /**
   * Condition: the rows that belong to `:conversation`; by default those with this
   * `conversation_id`.
   */
  readonly of?: string;
}

/**
 * A migration's statements besides those for columns. `create` creates the table as of that
 * migration.
 */
export type MigrationStatements =
  | readonly string[]
  | ((dialect: Dialect, create: string) => readonly string[]);

/** Everything known about a table. `Name` is one of its columns. */
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
   * The migration that created it; absent for the first one. `apart`: separate statements create
   * it.
   */
  readonly since?: number | 'apart';
  /**
   * Its former name. Its indexes start with its name and were renamed with it. No other table
   * refers to it.
   */
  readonly formerly?: FormerName;
  /** Changes by later migrations besides added columns. Released statements are never edited. */
  readonly later?: Readonly<Record<number, MigrationStatements>>;
  /**
   * How long its rows are kept. If it is a text, it says what limits them instead of an age, for
   * `parley storage`.
   */
  readonly kept: AgeRule<Name> | string;
  /**
   * Required for a table with human text. `apart`: separate code removes them. `stays`: `/forget`
   * reports that they stay.
   */
  readonly forget?: ForgetRule | 'apart' | 'stays';
  /** Why a backup does not contain its rows; absent if it does. */
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
/** Plain human text. */
export const words = defineColumn<string>('text', 'plain');
/** JSON that contains human text. */
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

/** A column that had another name until this migration. */
export function renamedFrom<C extends Column>(name: string, until: number, column: C): C {
  return { ...column, formerly: { name, until } };
}
