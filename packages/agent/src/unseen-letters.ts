/** A flag of a region, such as Scotland's, is written with them; every other tag letter shows nothing. */
const FLAG_OR_TAG =
  /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}|[\u{e0000}-\u{e007f}]/gu;

/**
 * Text without tag letters: people do not see them, a model reads them like any others, and whoever
 * pastes or forwards a text does not know that they are there (P18). Flags stay.
 */
export function withoutUnseenLetters(text: string): string {
  return text.replace(FLAG_OR_TAG, (found) => (found.startsWith('\u{1f3f4}') ? found : ''));
}
