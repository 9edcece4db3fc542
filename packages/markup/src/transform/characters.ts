import { stripVTControlCharacters } from 'node:util';

/** Control characters, and line ends that not every platform takes for one; tab and `\n` are fine. */
const UNPRINTABLE = /(?![\t\n])\p{Cc}|[\u2028\u2029]/gu;

/**
 * Text without control characters: platforms drop or refuse them, and a terminal obeys them. They
 * reach a text raw or as character references such as `&#13;`. A terminal's whole command goes
 * (`ESC[31m`), not only its first character.
 */
export function printable(text: string): string {
  return withoutCommands(text).replace(UNPRINTABLE, (character) => {
    if (character === '\0') return '\ufffd';
    if (character === '\v' || character === '\f') return ' ';
    return '\r\u0085\u2028\u2029'.includes(character) ? '\n' : '';
  });
}

const withoutCommands = (text: string) =>
  text.includes('\u001b') || text.includes('\u009b') ? stripVTControlCharacters(text) : text;
