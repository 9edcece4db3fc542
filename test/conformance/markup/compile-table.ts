import { type Compilation, unlessTight } from './compilation.ts';
import type { Expected, ExpectedRow } from './expected.ts';
import { textOf } from './expected.ts';
import type { Place } from './step-writer.ts';
import { hasSeen } from './visible.ts';

type Table = Extract<Expected, { kind: 'table' }>;
type Cell = readonly Expected[];

const HEADER_RULE = '─';

/**
 * A table appears as a table (or a fixed-width grid) that repeats its header in every part, or as a
 * list with the column names in every row. At the start of a part, a table may become a list or
 * vice versa, since a row may be too long for its part only as a table.
 */
export function compileTable(table: Table, place: Place, to: Compilation): void {
  const { writer } = to;
  const start = writer.fork();
  start.push(writer.here);
  compileHeader(table, place, to);
  const switches = table.rows.map((row) => {
    const next = writer.fork();
    const toList = switchTo(next, to);
    next.push(writer.here);
    const again = compileRepeatedHeader(table, row, place, to);
    if (to.manner.roomy) writer.whole(() => compileRow(row, table, place, to));
    else compileRow(row, table, place, to);
    return { toList, again };
  });
  const end = writer.fork();
  start.push(writer.here);
  compileList(table, place, to, switches);
  end.push(writer.here);
}

/**
 * A branch to a target set later, taken at the start of a part. With very tight limits, the part
 * may have started within the previous row.
 */
function switchTo(fork: number[], { writer, manner }: Compilation): number[] {
  fork.push(writer.here);
  if (manner.roomy) writer.only('at-part');
  return writer.fork();
}

function compileHeader(table: Table, place: Place, to: Compilation): void {
  const { writer, manner } = to;
  compileRow(table.header, table, place, to);
  if (manner.tables === 'native') return;
  writer.optional(() => {
    const again = writer.here;
    writer.addition([HEADER_RULE], place);
    const loop = writer.fork();
    loop.push(again, writer.here);
  });
}

/** Returns the position where the repeated header starts. */
function compileRepeatedHeader(
  table: Table,
  row: ExpectedRow,
  place: Place,
  to: Compilation,
): number {
  const { writer, manner } = to;
  let again = writer.here;
  writer.oneOf([
    () => {
      if (manner.roomy) writer.only('at-part');
      again = writer.here;
      compileHeader(table, place, to);
    },
    () => {
      // The part that contains a row without content cannot be determined.
      if (manner.roomy && row.some(shows)) writer.only('within-part');
    },
  ]);
  return again;
}

function compileRow(row: ExpectedRow, table: Table, place: Place, to: Compilation): void {
  const { writer, manner } = to;
  const isNative = manner.tables === 'native';
  const columns = Array.from({ length: columnsOf(table) }, (_, column) => row[column] ?? []);
  const inOrder = () => {
    for (const [column, cell] of columns.entries()) {
      if (column > 0 && manner.cellSeparator !== undefined) {
        writer.addition([manner.cellSeparator], place);
      }
      to.all(cell, isNative ? place : { ...place, unformatted: true }, to);
    }
  };
  const lines = columns.map(linesOf);
  const most = Math.max(1, ...lines.map(({ length }) => length));
  if (isNative || most === 1) {
    inOrder();
    return;
  }
  // In a grid, the lines of one cell are stacked.
  const lineByLine = () => {
    for (let line = 0; line < most; line += 1) {
      for (const cell of lines) to.all(cell[line] ?? [], { ...place, unformatted: true }, to);
    }
  };
  writer.oneOf([lineByLine, inOrder]);
}

/** The lines of a cell, if HTML line breaks count as such. */
function linesOf(cell: Cell): Cell[] {
  const lines: Expected[][] = [[]];
  for (const item of cell) {
    if (item.kind === 'maybe' && /^<br/i.test(item.text)) lines.push([]);
    else lines.at(-1)?.push(item);
  }
  return lines;
}

/** The rows as list items. */
function compileList(
  table: Table,
  place: Place,
  to: Compilation,
  switches: readonly { toList: number[]; again: number }[],
): void {
  const { writer, manner } = to;
  if (table.rows.length === 0) compileNames(table.header, place, to);
  for (const index of table.rows.keys()) {
    const next = writer.fork();
    if (index > 0) switchTo(next, to).push(switches[index]?.again ?? 0);
    next.push(writer.here);
    switches[index]?.toList.push(writer.here);
    const bullet = () => writer.addition(manner.bullets, place);
    if (table.rows[index]?.some(shows)) unlessTight(to, bullet);
    else writer.optional(bullet);
    compileItem(table, index, place, to);
  }
}

/** A table without rows consists of its column names. */
function compileNames(header: ExpectedRow, place: Place, to: Compilation): void {
  for (const [column, cell] of header.entries()) {
    if (column > 0) to.writer.optional(() => to.writer.addition(['·'], place));
    to.all(cell, { ...place, unformatted: true }, to);
  }
}

function compileItem(table: Table, index: number, place: Place, to: Compilation): void {
  const { header, rows } = table;
  const firstRow = Math.max(
    0,
    rows.findIndex((each) => each.some(shows)),
  );
  for (let column = 0; column < columnsOf(table); column += 1) {
    const cell = rows[index]?.[column] ?? [];
    const name = header[column] ?? [];
    const firstShown = rows.findIndex((each) => shows(each[column] ?? []));
    const isFirst = index === (firstShown < 0 ? firstRow : firstShown);
    const withName = () => {
      compileName(name, isFirst, place, to);
      to.all(cell, place, to);
    };
    if (!shows(name)) {
      // A cell with only HTML may be a name or have another meaning.
      if (name.length > 0) to.writer.optional(() => compileName(name, isFirst, place, to));
      to.all(cell, place, to);
    }
    // The name of a column without content is shown once.
    else if (shows(cell) || (isFirst && firstShown < 0)) withName();
    else to.writer.optional(withName);
  }
}

/** The name of a column, in which the address of a link must be shown once. */
function compileName(name: Cell, isFirst: boolean, place: Place, to: Compilation): void {
  const { writer } = to;
  const unformatted = { ...place, unformatted: true };
  if (isFirst) to.all(name, unformatted, to);
  else {
    writer.oneOf([
      () => to.all(name, unformatted, to),
      () => writer.text(textOf(name), undefined, unformatted, false),
    ]);
  }
  // A name that already ends with punctuation gets no colon.
  if (/[:?!：？！]\s*$/.test(textOf(name))) writer.optional(() => writer.addition([':'], place));
  else writer.addition([':'], place);
}

function columnsOf({ header, rows }: Table): number {
  return Math.max(header.length, ...rows.map((row) => row.length));
}

/** HTML with another meaning, such as a line break, may be the only content. */
function shows(cell: Cell): boolean {
  return hasSeen(cell.map((item) => (item.kind === 'maybe' ? '' : textOf([item]))).join(''));
}
