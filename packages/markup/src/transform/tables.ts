import type { Table } from 'mdast';
import type { Alignment, Cell } from '../document.ts';
import { hasVisible } from '../visible.ts';
import { printable } from './characters.ts';
import { type InlineContext, toRuns } from './inlines.ts';

/** A table as data: every row has as many cells as the header. */
export interface TableContent {
  readonly align: readonly Alignment[];
  readonly header: readonly Cell[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Reads a table. GFM fills short rows; cells beyond the header get a column, so that none is lost. */
export function readTable(table: Table, context: InlineContext): TableContent {
  const rows = table.children.map(({ children }) =>
    children.map((cell) => toRuns(cell.children, context)),
  );
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const [header = [], ...body] = rows.map((row) =>
    Array.from({ length: columns }, (_, column) => row[column] ?? []),
  );
  const align = header.map((_, column) => table.align?.[column] ?? undefined);
  return { align, header, rows: body };
}

/** What a cell shows. */
export function cellText(cell: Cell): string {
  return printable(cell.map(({ text }) => text).join(''));
}

/** Whether a cell shows nothing. */
export function isEmpty(cell: Cell): boolean {
  return !hasVisible(cellText(cell));
}
