import { fromJson, toJson } from '../json-column.ts';

/** Stored JSON without some words; null where they are not in it. */
export type Change = (stored: string) => string | null;

/** The same for text that is not JSON. */
export function inPlain(text: string, change: Change): string | null {
  const after = change(toJson(text));
  return after === null ? null : String(fromJson(after));
}

/** Writes those rows back whose text is another now; how many these are. */
export async function changed<Row>(
  rows: readonly Row[],
  textOf: (row: Row) => string | null,
  write: (row: Row, text: string) => Promise<unknown>,
): Promise<number> {
  let count = 0;
  for (const row of rows) {
    const text = textOf(row);
    if (text === null) continue;
    await write(row, text);
    count += 1;
  }
  return count;
}
