/** Control characters, and line ends that not every platform takes for one; tab and `\n` are fine. */
const UNPRINTABLE = /(?![\t\n])\p{Cc}|[\u2028\u2029]/gu;

/**
 * Text without control characters: platforms drop or refuse them, and a terminal obeys them. They
 * reach a text raw or as character references such as `&#13;`.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    if (character === '\0') return '\ufffd';
    if (character === '\v' || character === '\f') return ' ';
    return '\r\u0085\u2028\u2029'.includes(character) ? '\n' : '';
  });
}
