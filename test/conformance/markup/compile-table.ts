import { type Compilation, emitUnlessTight } from './compilation.ts';
import type { ExpectedItem, ExpectedRow } from './expected.ts';
import { joinText } from './expected.ts';
import type { CharacterContext } from './step-writer.ts';
import { hasVisibleCharacter } from './visible.ts';

type ExpectedTable = Extract<ExpectedItem, { kind: 'table' }>;
type ExpectedCell = readonly ExpectedItem[];

const HEADER_RULE = '─';

/**
 * A table appears as a table (or a fixed-width grid) that repeats its header in every part, or as a
 * list with the column names in every row. At the start of a part, a table may become a list or
 * vice versa, since a row may be too long for its part only as a table.
 */
export function compileTable(table: ExpectedTable, place: CharacterContext, to: Compilation): void {
  const { writer } = to;
  const start = writer.fork();
  start.push(writer.here);
  compileHeader(table, place, to);
  const switches = table.rows.map((row) => {
    const next = writer.fork();
    const toList = addSwitchTo(next, to);
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
function addSwitchTo(fork: number[], { writer, manner }: Compilation): number[] {
  fork.push(writer.here);
  if (manner.roomy) writer.only('at-part');
  return writer.fork();
}

function compileHeader(table: ExpectedTable, place: CharacterContext, to: Compilation): void {
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
  table: ExpectedTable,
  row: ExpectedRow,
  place: CharacterContext,
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
      if (manner.roomy && row.some(hasVisibleContent)) writer.only('within-part');
    },
  ]);
  return again;
}

function compileRow(
  row: ExpectedRow,
  table: ExpectedTable,
  place: CharacterContext,
  to: Compilation,
): void {
  const { writer, manner } = to;
  const isNative = manner.tables === 'native';
  const columns = Array.from({ length: countColumns(table) }, (_, column) => row[column] ?? []);
  const inOrder = () => {
    for (const [column, cell] of columns.entries()) {
      if (column > 0 && manner.cellSeparator !== undefined) {
        writer.addition([manner.cellSeparator], place);
      }
      to.all(cell, isNative ? place : { ...place, unformatted: true }, to);
    }
  };
  const lines = columns.map(splitCellLines);
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
function splitCellLines(cell: ExpectedCell): ExpectedCell[] {
  const lines: ExpectedItem[][] = [[]];
  for (const item of cell) {
    if (item.kind === 'maybe' && /^<br/i.test(item.text)) lines.push([]);
    else lines.at(-1)?.push(item);
  }
  return lines;
}

/** The rows as list items. */
function compileList(
  table: ExpectedTable,
  place: CharacterContext,
  to: Compilation,
  switches: readonly { toList: number[]; again: number }[],
): void {
  const { writer, manner } = to;
  if (table.rows.length === 0) compileNames(table.header, place, to);
  for (const index of table.rows.keys()) {
    const next = writer.fork();
    if (index > 0) addSwitchTo(next, to).push(switches[index]?.again ?? 0);
    next.push(writer.here);
    switches[index]?.toList.push(writer.here);
    const bullet = () => writer.addition(manner.bullets, place);
    if (table.rows[index]?.some(hasVisibleContent)) emitUnlessTight(to, bullet);
    else writer.optional(bullet);
    compileItem(table, index, place, to);
  }
}

/** A table without rows consists of its column names. */
function compileNames(header: ExpectedRow, place: CharacterContext, to: Compilation): void {
  for (const [column, cell] of header.entries()) {
    if (column > 0) to.writer.optional(() => to.writer.addition(['·'], place));
    to.all(cell, { ...place, unformatted: true }, to);
  }
}

function compileItem(
  table: ExpectedTable,
  index: number,
  place: CharacterContext,
  to: Compilation,
): void {
  const { header, rows } = table;
  const firstRow = Math.max(
    0,
    rows.findIndex((each) => each.some(hasVisibleContent)),
  );
  for (let column = 0; column < countColumns(table); column += 1) {
    const cell = rows[index]?.[column] ?? [];
    const name = header[column] ?? [];
    const firstShown = rows.findIndex((each) => hasVisibleContent(each[column] ?? []));
    const isFirst = index === (firstShown < 0 ? firstRow : firstShown);
    const withName = () => {
      compileName(name, isFirst, place, to);
      to.all(cell, place, to);
    };
    if (!hasVisibleContent(name)) {
      // A cell with only HTML may be a name or have another meaning.
      if (name.length > 0) to.writer.optional(() => compileName(name, isFirst, place, to));
      to.all(cell, place, to);
    }
    // The name of a column without content is shown once.
    else if (hasVisibleContent(cell) || (isFirst && firstShown < 0)) withName();
    else to.writer.optional(withName);
  }
}

/** The name of a column, in which the address of a link must be shown once. */
function compileName(
  name: ExpectedCell,
  isFirst: boolean,
  place: CharacterContext,
  to: Compilation,
): void {
  const { writer } = to;
  const unformatted = { ...place, unformatted: true };
  if (isFirst) to.all(name, unformatted, to);
  else {
    writer.oneOf([
      () => to.all(name, unformatted, to),
      () => writer.text(joinText(name), undefined, unformatted, false),
    ]);
  }
  // A name that already ends with punctuation does not get a colon.
  if (/[:?!：？！]\s*$/.test(joinText(name))) writer.optional(() => writer.addition([':'], place));
  else writer.addition([':'], place);
}

function countColumns({ header, rows }: ExpectedTable): number {
  return Math.max(header.length, ...rows.map((row) => row.length));
}

/** HTML with another meaning, such as a line break, may be the only content. */
function hasVisibleContent(cell: ExpectedCell): boolean {
  return hasVisibleCharacter(
    cell.map((item) => (item.kind === 'maybe' ? '' : joinText([item]))).join(''),
  );
}
