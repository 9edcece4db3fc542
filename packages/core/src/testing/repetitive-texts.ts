import { isDueToday, scaleRunCount } from './test-length.ts';

/** Symbols and words that regular expressions repeat, and pairs of them. */
const PIECES = [
  ...' \t\n*_`-.#>[](（"„“:=~|\\/aA1!?&<…{$,;@+',
  ...[
    '好,',
    'a ',
    ' a',
    '- ',
    '# ',
    '> ',
    '](',
    '\\(',
    '<a',
    'a.',
    'a-',
    'a@',
    '\n\n',
    ' \n',
    '|a',
    '(a',
    '""',
    '1,',
  ],
];
const ENDS = ['\u0001', '\na'];

/** The length of the longest string, in characters. */
const LENGTH = 300_000;
/**
 * The maximum processor time per character, in ms. Reading a string once takes a hundredth of the
 * limit; reading even the shortest string again from each of its positions takes at least twice the
 * limit.
 */
const MS_A_CHARACTER = 1 / 150;

/**
 * Finds the first repetitive string that takes so long that it must be read again from each of its
 * positions, which would take minutes for a long string. Measures processor time, which other
 * processes barely affect.
 */
export function findSlowText(
  read: (text: string) => unknown,
  length = scaleRunCount(LENGTH),
  isDue: (nth: number) => boolean = (nth) => isDueToday(nth, 2),
): string | undefined {
  for (const [piece, text] of listRepetitiveTexts(length, isDue)) {
    const before = process.threadCpuUsage();
    read(text);
    const { user, system } = process.threadCpuUsage(before);
    if ((user + system) / 1_000 > text.length * MS_A_CHARACTER) return piece;
  }
  return undefined;
}

/** Returns strings that repeat one substring. */
function listRepetitiveTexts(
  length: number,
  isDue: (nth: number) => boolean,
): readonly (readonly [piece: string, text: string])[] {
  return PIECES.filter((_, nth) => isDue(nth)).flatMap((piece) =>
    ENDS.map((end) => {
      const text = `a${piece.repeat(Math.ceil(length / piece.length))}${end}`;
      return [JSON.stringify(piece + end), text] as const;
    }),
  );
}
