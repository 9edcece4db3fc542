import { isOfDay, shareOfRun } from './test-length.ts';

/** Signs and words that regular expressions repeat, and pairs of them. */
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

/** Longest text, in characters. */
const LENGTH = 300_000;
/**
 * The most processor time that a text may take, in ms per character. Reading a text once takes a hundredth of it; reading
 * the shortest one again from each of its places takes at least twice as much, and more the longer the text is.
 */
const MS_A_CHARACTER = 1 / 150;

/**
 * Finds the first repetitive text that takes so long that it must be read again from each of its places, which would take
 * minutes for a long one. Measures processor time, which hardly depends on other processes.
 * @param length of each text, in characters: on a change a fifth of the longest.
 * @param isDue whether the nth piece is repeated: on a change every second one, the next day the others.
 */
export function findSlowText(
  read: (text: string) => unknown,
  length = shareOfRun(LENGTH),
  isDue: (nth: number) => boolean = (nth) => isOfDay(nth, 2),
): string | undefined {
  for (const [piece, text] of repetitiveTexts(length, isDue)) {
    const before = process.threadCpuUsage();
    read(text);
    const { user, system } = process.threadCpuUsage(before);
    if ((user + system) / 1_000 > text.length * MS_A_CHARACTER) return piece;
  }
  return undefined;
}

/** Texts that hold one piece again and again. */
function repetitiveTexts(
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
