import type { Database } from '../database.ts';
import { TABLE_LIST, TABLES } from '../tables.ts';
import type { Table } from './table.ts';

/** The migration that made the tables of 0.1.0. */
const FIRST = 31;

/** The statements of a migration for one database: first what makes tables and columns, table by table. */
export function statementsOf(migration: number, dialect: Database['dialect']): readonly string[] {
  const texts = TABLE_LIST.flatMap(([name, table]) => {
    const create = createTable(name, table, migration);
    const isNew = (table.since ?? FIRST) === migration;
    const stated = table.later?.[migration] ?? [];
    const later = typeof stated === 'function' ? stated(dialect, create) : stated;
    // A table that is made again has its new columns already.
    const added = later.includes(create)
      ? []
      : Object.entries(table.columns).filter(([, column]) => column.since === migration);
    return [
      ...(isNew ? [create, ...Object.entries(table.indexes ?? {}).map(indexOn(name))] : []),
      ...added.map(([column, { sql }]) => `alter table ${name} add column ${column} ${sql}`),
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

const indexOn =
  (table: string) =>
  ([name, columns]: readonly [string, string]) => {
    const [unique, rest] = /^(unique )?(.*)$/.exec(columns)?.slice(1) ?? [];
    return `create ${unique ?? ''}index ${name} on ${table} ${rest}`;
  };

/** The statement that makes a table as it was after a migration. */
function createTable(name: string, { columns, key, unique }: Table, migration: number): string {
  const isThere = (column: string) => (columns[column]?.since ?? 0) <= migration;
  const keyThen = (key ?? []).filter(isThere);
  const lines = [
    ...Object.entries(columns).flatMap(([column, { sql }]) =>
      isThere(column) ? [`${column} ${sql}`] : [],
    ),
    ...(keyThen.length > 0 ? [`primary key (${keyThen.join(', ')})`] : []),
    ...(unique === undefined ? [] : [`unique (${unique.join(', ')})`]),
  ];
  return `create table ${name} (\n    ${lines.join(',\n    ')}\n  )`;
}

/** Makes the table of migrations, where it is missing. */
export const MAKE_LEDGER = createTable(
  'if not exists parley_migration',
  TABLES.parley_migration,
  FIRST,
);
