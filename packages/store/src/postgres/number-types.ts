import type { types } from 'pg';

/** PostgreSQL's type numbers of bigint and numeric; `pg` would give both as strings. */
const NUMBERS: ReadonlySet<number> = new Set([20, 1700]);

/** How values are read: times, counters and sums of tokens all stay far below 2^53. */
export function numberTypes(library: typeof types): Pick<typeof types, 'getTypeParser'> {
  return {
    getTypeParser: (type, format) =>
      NUMBERS.has(type) ? Number : library.getTypeParser(type, format),
  };
}
