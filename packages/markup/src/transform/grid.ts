import type { Alignment, Cell } from '../document.ts';
import { textWidth } from '../text-width.ts';
import { cellText, isEmpty, type TableContent } from './tables.ts';

const GAP = '  ';
const HEADER_RULE = '─';
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** Unicode's isolates: between them text runs its own way and leaves the columns in their order. */
const ISOLATE = ['\u2068', '\u2069'] as const;

/**
 * Lays a table out in columns for a fixed-width font.
 * @returns undefined if it is wider than `columns` or would lose more than looks.
 */
export function layOutGrid(
  { align, header, rows }: TableContent,
  columns: number,
): { header: string[]; rows: string[] } | undefined {
  if ([header, ...rows].some((row) => row.some(losesMeaning))) return undefined;
  const names = header.map(cellLines);
  const lines = rows.map((row) => row.map(cellLines));
  const widths = names.map((_, column) =>
    Math.max(1, ...[names, ...lines].flatMap((row) => (row[column] ?? []).map(textWidth))),
  );
  const total = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
  if (total > columns) return undefined;
  const layOut = (cells: readonly (readonly string[])[]) => layOutRow(cells, widths, align);
  const rule = widths.map((width) => HEADER_RULE.repeat(width)).join(GAP);
  return {
    header: header.every(isEmpty) ? [] : [...layOut(names), rule],
    rows: lines.map((cells) => layOut(cells).join('\n')),
  };
}

/** A row is as many lines as its longest cell. */
function layOutRow(
  cells: readonly (readonly string[])[],
  widths: readonly number[],
  align: readonly Alignment[],
): string[] {
  const height = Math.max(1, ...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    widths
      .map((width, column) => pad(cells[column]?.[line] ?? '', width, align[column]))
      .join(GAP)
      .trimEnd(),
  );
}

function pad(text: string, width: number, align: Alignment): string {
  const space = width - textWidth(text);
  const before = align === 'right' ? space : align === 'center' ? Math.floor(space / 2) : 0;
  const shown = RIGHT_TO_LEFT.test(text) ? ISOLATE.join(text) : text;
  return ' '.repeat(before) + shown + ' '.repeat(space - before);
}

/** A tab has no width that could be counted on. */
function cellLines(cell: Cell): string[] {
  return cellText(cell)
    .split('\n')
    .map((line) => line.replaceAll(/\s/g, ' ').trim());
}

/** Bold text stays readable in a grid; but nothing in it can be followed, and nothing is struck or hidden. */
function losesMeaning(cell: Cell): boolean {
  return cell.some(
    ({ text, marks }) =>
      marks.some(({ type }) => type === 'link' || type === 'strike' || type === 'spoiler') ||
      /https?:\/\//i.test(text),
  );
}
