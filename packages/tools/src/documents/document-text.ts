/** The result of reading a file: its text, or why not, as a text for people that follows "because". */
export type DocumentText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** How much of a document is wanted, in characters (UTF-16 units). */
export interface DocumentLimits {
  readonly characters: number;
}

/** Refuses a file with a reason for people. */
export function refused(reason: string): DocumentText {
  return { kind: 'refused', reason };
}

/** The reason for a file that cannot be parsed. */
export const DAMAGED = 'it is damaged or not what it seems to be';

/** The reason for a file whose text is locked. */
export const ENCRYPTED = 'it is protected with a password';

/** A document's text, cut to the limit with a note of how long the whole is; refused when there is none. */
export function documentText(whole: string, { characters }: DocumentLimits): DocumentText {
  const text = whole.toWellFormed().replaceAll('\r\n', '\n').trim();
  if (text === '') return refused('there is no text in it');
  if (text.length <= characters) return { kind: 'text', text };
  const kept = text.slice(0, characters).toWellFormed();
  return { kind: 'text', text: `${kept}\n[cut: ${characters} of ${text.length} characters]` };
}
