import type { Database, SqlValue } from '../database.ts';

type Dialect = Database['dialect'];

/** The age to which rows are kept, in ms; Infinity: forever. Named as in the settings. */
export interface RetentionAges {
  /** Messages, answers, turns and their journals, approvals, runs of sub-agents and standing tasks. */
  readonly messages: number;
  /** The text of a conversation that the model reads. */
  readonly history: number;
  /** Why messages were not taken. */
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

/** One column, in the SQL of PostgreSQL. */
export interface Column<Value extends SqlValue = SqlValue> {
  readonly sql: string;
  /** It holds words of people, as text or within JSON. Absent: ids, states, addresses and numbers only. */
  readonly words?: 'plain' | 'json';
  /** The migration that added it; absent: the one that made the table. */
  readonly since?: number;
  readonly formerly?: FormerName;
  /** Types only: what a row holds. */
  readonly value?: Value;
}

/** Removes rows once they are old. */
export interface AgeRule<Name extends string = string> {
  /** A row may reach the longest of these ages. */
  readonly keeps: readonly (keyof RetentionAges)[];
  /** The column that says when the row was written or last used. */
  readonly at: Name;
  /** The columns of the index in whose order rows are read; absent: the primary key. */
  readonly by?: readonly Name[];
  /** Older rows do not come first in this order, so all rows are read, once a day. */
  readonly isUnsorted?: true;
  /** `at` is a day such as 2026-11-22. */
  readonly isDay?: true;
  /** Condition: the rows that are read; the others have no age yet. */
  readonly among?: string;
  /** Added to the age. In ms. */
  readonly longer?: number;
  /** Condition: rows that are needed whatever their age. Rows to which others refer are needed anyway. */
  readonly needed?: string;
}

/**
 * The ways to find the words of one person in a table: - `rows`: a condition that may name `:conversation` and the
 * lists `:turns`, `:seqs` and `:persons`. Rows that mix   voices and can be made again are all included. With
 * `alsoPhrases` the other rows lose what the person wrote, as   with `phrases`; - `phrases`: the rows mix voices and
 * stay, without what the person wrote; - `history`: it is written again without the person's messages; - `parts`:
 * each row says whose words it carries, in whatever chat it is (`partsWithWords`).
 */
export type PersonsRows =
  | { readonly by: 'rows'; readonly where: string; readonly alsoPhrases?: true }
  | { readonly by: 'phrases' | 'history' | 'parts' };

/** The handling of a table's words by `/forget`. */
export interface ForgetRule {
  /** The way to find a person's words in a group, where others keep theirs. */
  readonly persons: PersonsRows;
  /** When a whole conversation is forgotten, its rows go (the default), or stay without their words. */
  readonly whole?: 'rows' | 'texts';
  /** The count to which its rows are added; `pins` by default. */
  readonly counts?: 'history' | 'messages' | 'answers' | 'steps' | 'pins';
  /** Condition: the rows of `:conversation`; by default those that name it in `conversation_id`. */
  readonly of?: string;
}

/** The statements of a migration besides those for columns; `create` makes the table as of that migration. */
export type Statements =
  | readonly string[]
  | ((dialect: Dialect, create: string) => readonly string[]);

/** All that is known of a table. `Name` is one of its columns. */
export interface Table<Name extends string = string> {
  /** Today's columns, in their order. */
  readonly columns: Readonly<Record<Name, Column>>;
  /** The primary key, where no column is it alone. */
  readonly key?: readonly Name[];
  /** Columns that are unique together. */
  readonly unique?: readonly Name[];
  /** Indexes that are made with the table, by name: what follows `create index … on` it. */
  readonly indexes?: Readonly<Record<string, string>>;
  /** The migration that made it; absent: the first. `apart`: statements of its own make it. */
  readonly since?: number | 'apart';
  /** Its indexes, which begin with its name, were renamed with it. No other table refers to it. */
  readonly formerly?: FormerName;
  /** The changes of later migrations besides added columns. Released statements are never edited. */
  readonly later?: Readonly<Record<number, Statements>>;
  /** The age to which its rows are kept; a text says what bounds them without an age, for `parley storage`. */
  readonly kept: AgeRule<Name> | string;
  /** Required for a table with words. `apart`: code of its own removes them; `stays`: `/forget` says that they stay. */
  readonly forget?: ForgetRule | 'apart' | 'stays';
  /** Why a backup does not hold its rows. Absent: it does. */
  readonly notInBackup?: string;
}

/** Describes a table; its columns keep their types. */
export function table<const Columns extends Readonly<Record<string, Column>>>(
  description: Omit<Table<keyof Columns & string>, 'columns'> & { readonly columns: Columns },
): Omit<Table, 'columns'> & { readonly columns: Columns } {
  return description;
}

type NullUnless<Rest extends string> = Rest extends `${string}not null${string}` ? never : null;

function columnOf<Value extends SqlValue>(type: string, words?: 'plain' | 'json') {
  return <const Rest extends string = ''>(rest?: Rest): Column<Value | NullUnless<Rest>> => ({
    sql: rest === undefined ? type : `${type} ${rest}`,
    ...(words !== undefined && { words }),
  });
}

/** Text or JSON in which no person's words are: ids, states, addresses, times. */
export const data = columnOf<string>('text');
/** Text with words of people. */
export const words = columnOf<string>('text', 'plain');
/** JSON with words of people. */
export const wordsJson = columnOf<string>('text', 'json');
export const int = columnOf<number>('bigint');
export const real = columnOf<number>('double precision');
export const bytes = columnOf<Uint8Array>('bytea');

/** The primary key that grows with each row and is never used twice. */
export const serial = (): Column<number> => ({ sql: 'bigserial primary key' });

/** A column that this migration added. */
export function since<C extends Column>(migration: number, column: C): C {
  return { ...column, since: migration };
}

/** A column that had another name until this migration. */
export function formerly<C extends Column>(name: string, until: number, column: C): C {
  return { ...column, formerly: { name, until } };
}
