import { isDueToday, scaleRuns } from './test-length.ts';

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

/** The length of the longest text, in characters. */
const LENGTH = 300_000;
/**
 * The maximum processor time per character of a text, in ms. Reading a text once takes a hundredth
 * of it; reading even the shortest one again from each of its positions takes at least twice as
 * much, and more for longer texts.
 */
const MS_A_CHARACTER = 1 / 150;

/**
 * Finds the first repetitive text that takes so long that it must be read again from each of its
 * positions, which would take minutes for a long text. Measures processor time, which hardly
 * depends on other processes.
 * @param length of each text, in characters: a fifth of the longest one on a change.
 * @param isDue whether the nth piece is repeated: on a change every second one, and the others on
 * the next day.
 */
export function findSlowText(
  read: (text: string) => unknown,
  length = scaleRuns(LENGTH),
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

/** Texts that contain one piece again and again. */
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
