import { shareOfRun } from './test-length.ts';

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
 * Most processor time for a text, in ms for each character. What reads a text once takes a hundredth of it. What tries each
 * place of the shortest text from the beginning takes at least twice as much, and more the longer the text is.
 */
const MS_A_CHARACTER = 1 / 150;

/**
 * The first repetitive text that takes so much time that it is read from each of its places, which would take minutes for
 * a long one; undefined where there is none. Processor time is measured, which other processes do not change.
 * @param length of each text: on a change a fifth of the longest.
 */
export function findSlowText(
  read: (text: string) => unknown,
  length = shareOfRun(LENGTH),
): string | undefined {
  for (const [piece, text] of repetitiveTexts(length)) {
    const before = process.threadCpuUsage();
    read(text);
    const { user, system } = process.threadCpuUsage(before);
    if ((user + system) / 1_000 > text.length * MS_A_CHARACTER) return piece;
  }
  return undefined;
}

/** Texts that hold one piece again and again. */
function repetitiveTexts(length: number): readonly (readonly [piece: string, text: string])[] {
  return PIECES.flatMap((piece) =>
    ENDS.map((end) => {
      const text = `a${piece.repeat(Math.ceil(length / piece.length))}${end}`;
      return [JSON.stringify(piece + end), text] as const;
    }),
  );
}
