/** A value of a row, as both databases return it. */
export type SqlCell = string | number | bigint | Uint8Array | null;

/**
 * One statement per row, so that two dumps can be compared line by line. `bytesText` formats bytes
 * for the database.
 */
export function formatInsert(
  table: string,
  row: Readonly<Record<string, SqlCell>>,
  bytesText: (bytes: Uint8Array) => string,
): string {
  const values = Object.values(row).map((cell) => {
    if (cell === null) return 'null';
    if (typeof cell === 'string') return `'${cell.replaceAll("'", "''")}'`;
    return cell instanceof Uint8Array ? bytesText(cell) : String(cell);
  });
  return `insert into ${table} (${Object.keys(row).join(', ')}) values (${values.join(', ')});`;
}

/** Tables that a dump creates but leaves empty. */
export function findEmptyTables(dump: string): readonly string[] {
  const namesIn = (pattern: RegExp) =>
    new Set([...dump.matchAll(pattern)].map(([, name = '']) => name));
  const filled = namesIn(/^insert into (\w+) /gm);
  return [...namesIn(/^create table (\w+)/gim)].filter((name) => !filled.has(name)).toSorted();
}
