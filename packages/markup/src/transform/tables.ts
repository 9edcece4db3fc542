import type { Table } from 'mdast';
import type { Alignment, Cell, Container, Run } from '../document.ts';
import { textWidth } from '../text-width.ts';
import { type InlineContext, toRuns } from './inlines.ts';
import { addressAfter, linkOf } from './links.ts';

/** A table as data: every row has as many cells as the header. */
export interface TableContent {
  readonly align: readonly Alignment[];
  readonly header: readonly Cell[];
  readonly rows: readonly (readonly Cell[])[];
}

const GAP = '  ';
const HEADER_RULE = '─';

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

/**
 * Lays a table out in columns for a fixed-width font.
 * @returns undefined if it is wider than `columns` or would lose an address.
 */
export function layOutGrid(
  { align, header, rows }: TableContent,
  columns: number,
): { header: string[]; rows: string[] } | undefined {
  if ([header, ...rows].some((row) => row.some(hidesAddress))) return undefined;
  const texts = [header, ...rows].map((row) => row.map(cellText));
  const widths = header.map((_, column) =>
    Math.max(1, ...texts.map((row) => textWidth(row[column] ?? ''))),
  );
  const total = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
  if (total > columns) return undefined;
  const lines = texts.map((row) =>
    widths
      .map((width, column) => pad(row[column] ?? '', width, align[column]))
      .join(GAP)
      .trimEnd(),
  );
  const rule = widths.map((width) => HEADER_RULE.repeat(width)).join(GAP);
  const [first = '', ...rest] = lines;
  return { header: [first, rule], rows: rest };
}

/** One list item's text per row: each cell after its column's name, a line each. */
export function rowText(header: readonly Cell[], row: readonly Cell[]): Run[] {
  const runs: Run[] = [];
  for (const [column, cell] of row.entries()) {
    if (isEmpty(cell)) continue;
    if (runs.length > 0) runs.push({ text: '\n', marks: [] });
    const name = cellText(header[column] ?? []).trim();
    if (name !== '')
      runs.push({ text: name, marks: [{ type: 'bold' }] }, { text: ': ', marks: [] });
    runs.push(...cell);
  }
  return runs;
}

/** The column names alone, for a table without rows. */
export function headerText(header: readonly Cell[]): Run[] {
  return [{ text: header.map(cellText).join(' · '), marks: [{ type: 'bold' }] }];
}

/** A list of one item each, for rows that stand below each other. */
export function rowContainers(within: readonly Container[], rows: number): Container[][] {
  const list: Container = { type: 'list', start: undefined };
  return Array.from({ length: rows }, () => [...within, list, { type: 'item', marker: {} }]);
}

/** What a cell shows. */
function cellText(cell: Cell): string {
  return cell.map(({ text }) => text).join('');
}

function isEmpty(cell: Cell): boolean {
  return cellText(cell).trim() === '';
}

function hidesAddress(cell: Cell): boolean {
  return cell.some((run) => addressAfter(cellText(cell), linkOf(run)?.url ?? '') !== '');
}

function pad(text: string, width: number, align: Alignment): string {
  const space = width - textWidth(text);
  const before = align === 'right' ? space : align === 'center' ? Math.floor(space / 2) : 0;
  return ' '.repeat(before) + text + ' '.repeat(space - before);
}
