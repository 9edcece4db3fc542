import { toDisplayText } from '@parley/core';
import type { Table } from 'mdast';
import {
  type Alignment,
  hasVisibleText,
  type LeafContainer,
  type TableCell,
  type TextRun,
} from '../document.ts';
import { type InlineContext, toRuns } from './inlines.ts';

/** A table as data: every row has as many cells as the header. */
interface TableContent {
  readonly align: readonly Alignment[];
  readonly header: readonly TableCell[];
  readonly rows: readonly (readonly TableCell[])[];
}

/**
 * Reads a table. GFM fills short rows; cells beyond the header get a column, so that no cell is
 * lost.
 */
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

function getCellText(cell: TableCell): string {
  return toDisplayText(cell.map(({ text }) => text).join(''));
}

export function isEmptyCell(cell: TableCell): boolean {
  return !hasVisibleText(getCellText(cell));
}

/**
 * With at least this many columns, cells are placed side by side if each one with its name is at
 * most `SHORT` wide.
 */
const MANY = 5;
const SHORT = 16;
/** The separator is wider than the spaces within a cell. */
const SIDE_BY_SIDE = '\u2003';

/**
 * The text of each row as a list item: each cell after its column's name, one per line. Many short
 * cells are placed side by side, so that a year of months does not fill a screen. The first row
 * includes the names of columns that are empty in all rows.
 */
export function formatRowTexts(
  header: readonly TableCell[],
  rows: readonly (readonly TableCell[])[],
): TextRun[][] {
  const isUnused = header.map((_, column) => rows.every((row) => isEmptyCell(row[column] ?? [])));
  const named = (space: string) =>
    rows.map((row, index) =>
      row.flatMap((cell, column) => {
        const name = header[column] ?? [];
        if (!isEmptyCell(cell)) return [addColumnName(name, cell, space)];
        return index === 0 && isUnused[column] && !isEmptyCell(name)
          ? [addColumnName(name, [], '')]
          : [];
      }),
    );
  const cells = named(' ');
  const isTight = header.length >= MANY && cells.flat().every(isShortText);
  return isTight
    ? named('\u00a0').map((row) => joinCells(row, SIDE_BY_SIDE))
    : cells.map((row) => joinCells(row, '\n'));
}

/** The gap between row items: an empty line if one of the items has several lines. */
export function chooseRowGap(texts: readonly (readonly TextRun[])[]): 1 | 2 {
  return texts.some((runs) => getCellText(runs).split('\n').length > 2) ? 2 : 1;
}

export function formatHeader(header: readonly TableCell[]): TextRun[] {
  const names = header.filter((name) => !isEmptyCell(name));
  return names.flatMap((name, index) => [
    ...(index === 0 ? [] : [{ text: ' · ', marks: [] }]),
    ...toNameRuns(name),
  ]);
}

/** A list with one item per row. */
export function createRowContainers(
  within: readonly LeafContainer[],
  rows: number,
): LeafContainer[][] {
  const list: LeafContainer = { type: 'list', start: undefined };
  return Array.from({ length: rows }, () => [...within, list, { type: 'item', marker: {} }]);
}

function joinCells(cells: readonly (readonly TextRun[])[], between: string): TextRun[] {
  return cells.flatMap((runs, index) =>
    index === 0 ? runs : [{ text: between, marks: [] }, ...runs],
  );
}

function addColumnName(name: TableCell, cell: TableCell, space: string): TextRun[] {
  if (isEmptyCell(name)) return [...cell];
  const separator = endsWithSign(name) ? space : `:${space}`;
  return [...toNameRuns(name), { text: separator, marks: [] }, ...cell];
}

function isShortText(runs: readonly TextRun[]): boolean {
  const text = getCellText(runs);
  return !text.includes('\n') && measureTextWidth(text) <= SHORT;
}

/**
 * A column's name in bold, on one line; code stays code, because a dialect may not allow other
 * marks on code.
 */
function toNameRuns(name: TableCell): TextRun[] {
  return name.map(({ text, marks }) => ({
    text: text.replaceAll('\n', ' '),
    marks: marks.some(({ type }) => type === 'code' || type === 'bold')
      ? marks
      : [{ type: 'bold' }, ...marks],
  }));
}

function endsWithSign(name: TableCell): boolean {
  return /[:?!：？！]\s*$/.test(getCellText(name));
}

const GAP = '  ';
const HEADER_RULE = '─';
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/**
 * Unicode's isolates: the text between them has its own direction, which leaves the columns in
 * order.
 */
const ISOLATE = ['\u2068', '\u2069'] as const;

/**
 * Lays a table out in columns for a fixed-width font.
 * @returns undefined if it is wider than `columns` or would lose more than its appearance.
 */
export function layOutGrid(
  { align, header, rows }: TableContent,
  columns: number,
): { header: string[]; rows: string[] } | undefined {
  if ([header, ...rows].some((row) => row.some(wouldLoseFormatting))) return undefined;
  const names = header.map(splitCellLines);
  const lines = rows.map((row) => row.map(splitCellLines));
  const widths = names.map((_, column) =>
    Math.max(1, ...[names, ...lines].flatMap((row) => (row[column] ?? []).map(measureTextWidth))),
  );
  const total = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
  if (total > columns) return undefined;
  const layOut = (cells: readonly (readonly string[])[]) => layOutRow(cells, widths, align);
  const rule = widths.map((width) => HEADER_RULE.repeat(width)).join(GAP);
  return {
    header: header.every(isEmptyCell) ? [] : [...layOut(names), rule],
    rows: lines.map((cells) => layOut(cells).join('\n')),
  };
}

function layOutRow(
  cells: readonly (readonly string[])[],
  widths: readonly number[],
  align: readonly Alignment[],
): string[] {
  const height = Math.max(1, ...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    widths
      .map((width, column) => padCell(cells[column]?.[line] ?? '', width, align[column]))
      .join(GAP)
      .trimEnd(),
  );
}

function padCell(text: string, width: number, align: Alignment): string {
  const space = width - measureTextWidth(text);
  const before = align === 'right' ? space : align === 'center' ? Math.floor(space / 2) : 0;
  const shown = RIGHT_TO_LEFT.test(text) ? ISOLATE.join(text) : text;
  return ' '.repeat(before) + shown + ' '.repeat(space - before);
}

/** A tab has no predictable width. */
function splitCellLines(cell: TableCell): string[] {
  return getCellText(cell)
    .split('\n')
    .map((line) => line.replaceAll(/\s/g, ' ').trim());
}

/** Bold text stays readable in a grid, but links, strikethrough and spoilers would be lost. */
function wouldLoseFormatting(cell: TableCell): boolean {
  return cell.some(
    ({ text, marks }) =>
      marks.some(({ type }) => type === 'link' || type === 'strike' || type === 'spoiler') ||
      /https?:\/\//i.test(text),
  );
}

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * The number of columns that text takes in a fixed-width font: wide East Asian characters and emoji
 * take two, combining marks none. Counted by grapheme, as terminals and phones render them.
 */
export function measureTextWidth(text: string): number {
  if (isLatinText(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += measureGraphemeWidth(segment);
  return width;
}

/** Latin letters and punctuation, each a separate character, except the invisible soft hyphen. */
function isLatinText(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x2ff || (code > 0x7e && code < 0xa0) || code === 0xad) return false;
  }
  return true;
}

const INVISIBLE = /^[\p{Cc}\p{Cf}\p{Mn}\p{Me}\u{1160}-\u{11ff}]*$/u;
const EMOJI = /^\p{Emoji_Presentation}|\u{fe0f}/u;
/** Unicode's East_Asian_Width W and F without rare ones: CJK, kana, Hangul, full-width forms. */
const WIDE =
  /^[\u{1100}-\u{115f}\u{2e80}-\u{303e}\u{3041}-\u{a4cf}\u{a960}-\u{a97c}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff01}-\u{ff60}\u{ffe0}-\u{ffe6}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;

function measureGraphemeWidth(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0;
  return WIDE.test(grapheme) || EMOJI.test(grapheme) ? 2 : 1;
}
