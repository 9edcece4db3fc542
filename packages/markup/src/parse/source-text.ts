/**
 * Text as the parser reads it right: well-formed, line ends as `\n`, and U+FFFD for NUL, as CommonMark
 * has it. The parser would do that, too, but beside a NUL it doubles the signs of marks.
 */
export function sourceText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\0', '\ufffd')
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n');
}
