import { CONVERSATION_TABLES } from './tables/conversations.ts';
import { INSTALLATION_TABLES } from './tables/installation.ts';
import { MESSAGE_TABLES } from './tables/messages.ts';
import { OUTBOX_TABLES } from './tables/outbox.ts';
import { PEOPLE_TABLES } from './tables/people.ts';
import type { Column, Table } from './tables/table.ts';
import { TURN_TABLES } from './tables/turns.ts';

/**
 * The registry of all tables: their columns and migrations, how long rows are kept, what `/forget`
 * does with them, and whether a backup contains them. A referenced table comes before the tables
 * that refer to it. Tables are created in this order; rows are removed in the opposite order, which
 * is also the lock order (README).
 */
export const TABLES = {
  ...INSTALLATION_TABLES,
  ...PEOPLE_TABLES,
  ...CONVERSATION_TABLES,
  ...TURN_TABLES,
  ...OUTBOX_TABLES,
  ...MESSAGE_TABLES,
};

export type TableName = keyof typeof TABLES;
type ColumnsOf<Name extends TableName> = (typeof TABLES)[Name]['columns'];

/** A table row, or the given columns of a row, as both databases return it. */
export type Row<
  Name extends TableName,
  Of extends keyof ColumnsOf<Name> = keyof ColumnsOf<Name>,
> = {
  readonly [C in Of]: ColumnsOf<Name>[C] extends Column<infer Value> ? Value : never;
};

/** The tables by name, in registry order. */
export const TABLE_LIST = Object.entries<Table>(TABLES) as readonly (readonly [
  name: TableName,
  table: Table,
])[];

/** Lists a table's names: the current name and, if different, the name in an older database. */
export function listTableNames(name: string, { formerly }: Table): readonly string[] {
  return formerly === undefined ? [name] : [name, formerly.name];
}

export function listPrimaryKeyColumns({ key, columns }: Table): readonly string[] {
  if (key !== undefined) return key;
  return Object.keys(columns).filter((name) => columns[name]?.sql.includes('primary key'));
}

/** A column that refers to a row in another table. */
interface ForeignReference {
  readonly table: string;
  readonly column: string;
  /** The column to which it refers. */
  readonly to: string;
}

/** Lists the references to a table that prevent its rows from being removed. */
export function listReferencesTo(name: string): readonly ForeignReference[] {
  const pattern = new RegExp(String.raw`references ${name} \((\w+)\)(?! on delete cascade)`);
  return TABLE_LIST.flatMap(([table, { columns }]) =>
    Object.entries(columns).flatMap(([column, { sql }]) => {
      const to = pattern.exec(sql)?.[1];
      return to === undefined ? [] : [{ table, column, to }];
    }),
  );
}

/** The tables whose rows a backup contains, in an order in which they can be restored. */
export const TABLES_IN_BACKUP: readonly TableName[] = TABLE_LIST.flatMap(
  ([name, { notInBackup }]) => (notInBackup === undefined ? [name] : []),
);
