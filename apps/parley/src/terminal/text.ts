import { toDisplayLine, toDisplayText } from '@parley/core';

/**
 * Removes characters with which untrusted text could control the terminal: move the cursor, erase,
 * rename the window, or simulate input. Tabs are replaced with spaces, because the number of
 * columns matters.
 */
export function stripControlCharacters(text: string): string {
  return toDisplayText(text.replaceAll('\r\n', '\n').replaceAll('\t', '    '));
}

const NO_WIDTH = /^(?:\p{M}|\p{Cf})/u;
const TWO_COLUMNS =
  /^[\p{Emoji_Presentation}\p{Extended_Pictographic}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/**
 * Breaks long lines between words. A word that is too long is kept whole, so that it can be copied.
 */
export function wrapWords(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => (countColumns(line) <= columns ? line : wrapLine(line, columns)))
    .join('\n');
}

function wrapLine(line: string, columns: number): string {
  let wrapped = '';
  let used = 0;
  for (const word of line.split(/(?<=\S)(?= )/)) {
    const width = countColumns(word);
    if (used > 0 && used + width > columns) {
      wrapped += `\n${word.trimStart()}`;
      used = width - (word.length - word.trimStart().length);
    } else {
      wrapped += word;
      used += width;
    }
  }
  return wrapped;
}

function countColumns(text: string): number {
  return [...text].reduce((sum, character) => sum + getCharacterWidth(character), 0);
}

/** Splits text into rows for a screen of this width, the way a terminal does. */
export function splitRows(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => splitLine(line, Math.max(2, columns)));
}

function splitLine(line: string, columns: number): string[] {
  const rows: string[] = [];
  let row = '';
  let width = 0;
  for (const character of line) {
    const wide = getCharacterWidth(character);
    if (width + wide > columns) {
      rows.push(row);
      row = '';
      width = 0;
    }
    row += character;
    width += wide;
  }
  return [...rows, row];
}

/**
 * Returns the width of a code point in columns. When in doubt, the width is overestimated, because
 * breaking a row early does no harm.
 */
function getCharacterWidth(character: string): number {
  if (NO_WIDTH.test(character)) return 0;
  return TWO_COLUMNS.test(character) ? 2 : 1;
}

/**
 * Formats rows as aligned columns. Columns in `right` are right-aligned, and a row with a single
 * cell spans all columns. Cells may contain untrusted text; it cannot move the cursor.
 */
export function formatTable(
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string {
  const shown = rows.map((row) => row.map((cell) => toDisplayLine(cell.replaceAll('\t', '    '))));
  const aligned = shown.filter((row) => row.length > 1);
  const widths = aligned[0]?.map((_, at) =>
    Math.max(...aligned.map((row) => countColumns(row[at] ?? ''))),
  );
  const pad = (cell: string, at: number): string => {
    const blank = ' '.repeat((widths?.[at] ?? 0) - countColumns(cell));
    return right.includes(at) ? blank + cell : cell + blank;
  };
  return shown
    .map((row) => (row.length === 1 ? row : row.map(pad)).join('  ').trimEnd())
    .join('\n');
}

/** Formats a time as `2026-11-21 14:05`, in UTC. */
export function formatMinute(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}

/** Formats a time as `2026-11-21 14:05:09Z`. */
export function formatSecond(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
