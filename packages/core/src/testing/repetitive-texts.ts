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

/**
 * Texts that hold one piece again and again: a regular expression that tries each place of such a text from the
 * beginning takes minutes for them, any other one milliseconds.
 */
export function repetitiveTexts(
  length: number,
): readonly (readonly [piece: string, text: string])[] {
  return PIECES.flatMap((piece) =>
    ENDS.map((end) => {
      const text = `a${piece.repeat(Math.ceil(length / piece.length))}${end}`;
      return [JSON.stringify(piece + end), text] as const;
    }),
  );
}
