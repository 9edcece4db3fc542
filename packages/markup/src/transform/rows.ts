import type { Cell, Container, Run } from '../document.ts';
import { textWidth } from '../text-width.ts';
import { cellText, isEmpty } from './tables.ts';

/** A table of so many columns stands side by side if each cell with its name takes no more columns. */
const MANY = 5;
const SHORT = 16;
/** Wider than the space in a cell. */
const SIDE_BY_SIDE = '\u2003';

/**
 * The text of each row as a list item: each cell after its column's name, a line each. Many short
 * cells stand side by side, because a year of months should not fill a screen. The first row names
 * the columns that are empty in all rows.
 */
export function rowTexts(header: readonly Cell[], rows: readonly (readonly Cell[])[]): Run[][] {
  const isUnused = header.map((_, column) => rows.every((row) => isEmpty(row[column] ?? [])));
  const named = (space: string) =>
    rows.map((row, index) =>
      row.flatMap((cell, column) => {
        const name = header[column] ?? [];
        if (!isEmpty(cell)) return [withName(name, cell, space)];
        return index === 0 && isUnused[column] && !isEmpty(name) ? [withName(name, [], '')] : [];
      }),
    );
  const cells = named(' ');
  const isTight = header.length >= MANY && cells.flat().every(isShort);
  return isTight
    ? named('\u00a0').map((row) => joined(row, SIDE_BY_SIDE))
    : cells.map((row) => joined(row, '\n'));
}

/** How far such list items stand apart: an empty line, where one goes over several lines. */
export function rowGap(texts: readonly (readonly Run[])[]): 1 | 2 {
  return texts.some((runs) => cellText(runs).split('\n').length > 2) ? 2 : 1;
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

function joined(cells: readonly (readonly Run[])[], between: string): Run[] {
  return cells.flatMap((runs, index) =>
    index === 0 ? runs : [{ text: between, marks: [] }, ...runs],
  );
}

function withName(name: Cell, cell: Cell, space: string): Run[] {
  if (isEmpty(name)) return [...cell];
  const separator = endsWithSign(name) ? space : `:${space}`;
  return [...nameRuns(name), { text: separator, marks: [] }, ...cell];
}

function isShort(runs: readonly Run[]): boolean {
  const text = cellText(runs);
  return !text.includes('\n') && textWidth(text) <= SHORT;
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

function endsWithSign(name: Cell): boolean {
  return /[:?!：？！]\s*$/.test(cellText(name));
}
