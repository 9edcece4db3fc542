import type { Table } from 'mdast';
import type { Alignment, Cell, Container, Run } from '../document.ts';
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

/** One list item's text per row: each cell after its column's name, a line each. */
export function rowText(header: readonly Cell[], row: readonly Cell[]): Run[] {
  const runs: Run[] = [];
  for (const [column, cell] of row.entries()) {
    if (isEmpty(cell)) continue;
    if (runs.length > 0) runs.push({ text: '\n', marks: [] });
    const name = header[column] ?? [];
    if (!isEmpty(name)) runs.push(...nameRuns(name), { text: separatorAfter(name), marks: [] });
    runs.push(...cell);
  }
  return runs;
}

/** The column names alone, for a table without rows. */
export function headerText(header: readonly Cell[]): Run[] {
  const names = header.filter((name) => !isEmpty(name));
  return names.flatMap((name, index) => [
    ...(index === 0 ? [] : [{ text: ' · ', marks: [] }]),
    ...nameRuns(name),
  ]);
}

/** A list of one item each, for rows that stand below each other. */
export function rowContainers(within: readonly Container[], rows: number): Container[][] {
  const list: Container = { type: 'list', start: undefined };
  return Array.from({ length: rows }, () => [...within, list, { type: 'item', marker: {} }]);
}

/** What a cell shows. */
export function cellText(cell: Cell): string {
  return printable(cell.map(({ text }) => text).join(''));
}

/** Whether a cell shows nothing. */
export function isEmpty(cell: Cell): boolean {
  return cellText(cell).trim() === '';
}

/** A column's name in bold, on one line; code stays code, since it may not allow other marks. */
function nameRuns(name: Cell): Run[] {
  return name.map(({ text, marks }) => ({
    text: text.replaceAll('\n', ' '),
    marks: marks.some(({ type }) => type === 'code' || type === 'bold')
      ? marks
      : [{ type: 'bold' }, ...marks],
  }));
}

function separatorAfter(name: Cell): string {
  return /[:?!：？！]\s*$/.test(cellText(name)) ? ' ' : ': ';
}
