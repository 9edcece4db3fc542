import type { Database } from '../database.ts';
import { TABLE_LIST, TABLES } from '../tables.ts';
import type { Column, Table } from './table.ts';

/** The migration that created the tables of 0.1.0. */
const FIRST = 31;

/**
 * Lists a migration's statements for one database. Statements that create tables and columns come
 * first, table by table.
 */
export function listMigrationStatements(
  migration: number,
  dialect: Database['dialect'],
): readonly string[] {
  const texts = TABLE_LIST.flatMap(([name, table]) => {
    const create = buildCreateTableStatement(name, table, migration);
    const isNew = (table.since ?? FIRST) === migration;
    const stated = table.later?.[migration] ?? [];
    const later = typeof stated === 'function' ? stated(dialect, create) : stated;
    // A table that is created by the same migration already has its new columns.
    const added = later.includes(create)
      ? []
      : Object.entries(table.columns).filter(([, column]) => column.since === migration);
    return [
      ...(isNew ? [create, ...listCreateIndexStatements(name, table, migration)] : []),
      ...added.map(
        ([column, { sql }]) =>
          `alter table ${getNameAtMigration(name, table, migration)} add column ${column} ${sql}`,
      ),
      ...listRenameStatements(name, table, migration, dialect),
      ...later,
    ];
  });
  if (dialect === 'postgres') return texts;
  return texts.map((text) =>
    text
      .replace('bigserial primary key', 'integer primary key autoincrement')
      .replace('bytea', 'blob'),
  );
}

/** Returns the name that a table or column had after a migration. */
function getNameAtMigration(
  name: string,
  { formerly }: Pick<Table, 'formerly'> | Pick<Column, 'formerly'>,
  migration: number,
): string {
  return formerly === undefined || formerly.until <= migration ? name : formerly.name;
}

/**
 * An index name starts with the table's name, except for indexes that had another prefix from the
 * beginning.
 */
function getIndexNameAtMigration(
  index: string,
  name: string,
  table: Table,
  migration: number,
): string {
  const then = getNameAtMigration(name, table, migration);
  return index.startsWith(`${name}_`) ? `${then}${index.slice(name.length)}` : index;
}

/** Lists the statements that create a table's indexes as they were after a migration. */
function listCreateIndexStatements(
  name: string,
  table: Table,
  migration: number,
): readonly string[] {
  const then = getNameAtMigration(name, table, migration);
  return Object.entries(table.indexes ?? {}).map(([index, columns]) => {
    const text = Object.entries(table.columns).reduce(
      (text, [column, described]) =>
        text.replaceAll(
          new RegExp(String.raw`\b${column}\b`, 'g'),
          getNameAtMigration(column, described, migration),
        ),
      columns,
    );
    const [unique, rest] = /^(unique )?(.*)$/.exec(text)?.slice(1) ?? [];
    return `create ${unique ?? ''}index ${getIndexNameAtMigration(index, name, table, migration)} on ${then} ${rest}`;
  });
}

/**
 * Lists the statements that rename a table and its columns. In both databases, keys, references and
 * index conditions follow a rename automatically.
 */
function listRenameStatements(
  name: string,
  table: Table,
  migration: number,
  dialect: Database['dialect'],
): readonly string[] {
  const columns = Object.entries(table.columns).flatMap(([column, { formerly }]) =>
    formerly?.until === migration
      ? [`alter table ${name} rename column ${formerly.name} to ${column}`]
      : [],
  );
  if (table.formerly?.until !== migration) return columns;
  const indexes = Object.keys(table.indexes ?? {}).map((index) => ({
    index,
    was: getIndexNameAtMigration(index, name, table, migration - 1),
  }));
  return [
    `alter table ${table.formerly.name} rename to ${name}`,
    ...columns,
    // Only PostgreSQL can rename an index.
    ...(dialect === 'postgres'
      ? indexes.map(({ index, was }) => `alter index ${was} rename to ${index}`)
      : [
          ...indexes.map(({ was }) => `drop index ${was}`),
          ...listCreateIndexStatements(name, table, migration),
        ]),
  ];
}

/** Builds the statement that creates a table as it was after a migration. */
function buildCreateTableStatement(name: string, table: Table, migration: number): string {
  const { columns, key = [], unique } = table;
  const then = (names: readonly string[]): readonly string[] =>
    names.flatMap((column) => {
      const described = columns[column];
      const isThere = described !== undefined && (described.since ?? 0) <= migration;
      return isThere ? [getNameAtMigration(column, described, migration)] : [];
    });
  const keyThen = then(key);
  const lines = [
    ...Object.entries(columns).flatMap(([column, { sql }]) =>
      then([column]).map((named) => `${named} ${sql}`),
    ),
    ...(keyThen.length > 0 ? [`primary key (${keyThen.join(', ')})`] : []),
    ...(unique === undefined ? [] : [`unique (${then(unique).join(', ')})`]),
  ];
  return `create table ${getNameAtMigration(name, table, migration)} (\n    ${lines.join(',\n    ')}\n  )`;
}

/** Creates the table that records the migrations, if it is missing. */
export const MAKE_LEDGER = buildCreateTableStatement(
  'if not exists parley_migration',
  TABLES.parley_migration,
  FIRST,
);
