import { DatabaseSync } from 'node:sqlite';
import { formatInsert } from './sql-text.ts';

/** Tables in which SQLite keeps the search index; the virtual table creates them. */
const SHADOW = /^search_entry_/;

const BEFORE = `pragma auto_vacuum = incremental;
pragma journal_mode = wal;
pragma foreign_keys = off;
begin;`;

/** A whole SQLite database as SQL, including its schema. */
export function dumpSqlite(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const all = database
      .prepare(
        "select type, name, sql from sqlite_master where name not like 'sqlite_%' order by rowid",
      )
      .all();
    const made = (type: string) =>
      all.filter((one) => one.type === type && one.sql !== null && !SHADOW.test(String(one.name)));
    const tables = all.filter((one) => one.type === 'table').map(({ name }) => String(name));
    const rows = tables
      .filter((name) => name !== 'search_entry')
      .flatMap((name) => dumpRows(database, name));
    const texts = (type: string) => made(type).map(({ sql }) => `${String(sql)};`);
    return [
      BEFORE,
      ...texts('table'),
      ...rows,
      'delete from sqlite_sequence;',
      ...dumpRows(database, 'sqlite_sequence'),
      ...texts('index'),
      'commit;\n',
    ].join('\n');
  } finally {
    database.close();
  }
}

function dumpRows(database: DatabaseSync, table: string): readonly string[] {
  const rows = database.prepare(`select * from ${table}`).all();
  const emptied = SHADOW.test(table) ? [`delete from ${table};`] : [];
  return [...emptied, ...rows.map((row) => formatInsert(table, row, hexOf))];
}

const hexOf = (bytes: Uint8Array): string => `x'${Buffer.from(bytes).toString('hex')}'`;
