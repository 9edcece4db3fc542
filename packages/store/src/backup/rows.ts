import { type Database, defineDynamicStatement, type Sql, type SqlValue } from '../database.ts';

/** A single value in a row, with the same type on both databases. */
export type CellValue = SqlValue;

/** A table whose rows are copied; each row lists its values in this column order. */
export interface BackupTable {
  readonly name: string;
  readonly columns: readonly string[];
}

export interface BackupRows {
  readonly table: BackupTable;
  readonly rows: readonly (readonly CellValue[])[];
}

/** Stays below 32,766, the maximum number of values per statement in both databases. */
const MAX_VALUES = 10_000;
const MAX_ROWS = 100;

/** Inserts rows into a table in the given order. */
export async function insertRows(
  { dialect }: Pick<Database, 'dialect'>,
  sql: Sql,
  { table, rows }: BackupRows,
): Promise<void> {
  const size = Math.min(MAX_ROWS, Math.floor(MAX_VALUES / table.columns.length));
  for (let from = 0; from < rows.length; from += size) {
    const values: Record<string, SqlValue> = {};
    const lines = rows.slice(from, from + size).map((row, nth) => {
      const names = row.map((cell, column) => {
        values[`v${nth}_${column}`] = dialect === 'postgres' ? stripNulCharacters(cell) : cell;
        return `:v${nth}_${column}`;
      });
      return `(${names.join(', ')})`;
    });
    const columns = table.columns.map(quoteIdentifier).join(', ');
    const insert = `insert into ${quoteIdentifier(table.name)} (${columns}) values ${lines.join(', ')}`;
    await sql.run(defineDynamicStatement(insert), values);
  }
}

/** Quotes an identifier for use in a query. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Removes NUL, the only character that PostgreSQL cannot store in text. */
function stripNulCharacters(cell: CellValue): CellValue {
  return typeof cell === 'string' ? cell.replaceAll('\0', '') : cell;
}
