/**
 * The result of reading a file: a part of its text, or the reason why there is none, worded to
 * follow "because" in a sentence for people.
 */
export type DocumentText =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** The offset of the next part, in characters; null after the last part. */
      readonly next: number | null;
      /** The length of the text up to the last page that was read, in characters. */
      readonly length: number;
      /** The number of remaining pages, chapters or messages; 0 when the end was reached. */
      readonly pagesLeft: number;
      /** A sentence about a doubtful decoding (W10); null when there is no doubt. */
      readonly warning: string | null;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/** The requested part of a document, in characters (UTF-16 units). */
export interface DocumentLimits {
  /** The offset of the part, in characters; 0 when absent. */
  readonly from?: number;
  readonly characters: number;
}

/** Refuses a file with a reason for people. */
export function refuseDocument(reason: string): DocumentText {
  return { kind: 'refused', reason };
}

/** The reason for a file that cannot be parsed. */
export const DAMAGED = 'it is damaged or not what it seems to be';

/** The reason for a password-protected file. */
export const ENCRYPTED = 'it is protected with a password';

/** Returns the requested part of a document's text; refuses a document without text. */
export function selectDocumentText(
  whole: string,
  { from = 0, characters }: DocumentLimits,
  { pagesLeft = 0, warning = null }: { pagesLeft?: number; warning?: string | null } = {},
): DocumentText {
  const text = whole.toWellFormed().replaceAll('\r\n', '\n').trim();
  if (text === '') return refuseDocument('it contains no text');
  const end = alignToCharacter(text, Math.min(from + characters, text.length));
  const next = end < text.length ? end : null;
  const part = text.slice(from, end).toWellFormed();
  return { kind: 'text', text: part, next, length: text.length, pagesLeft, warning };
}

/** Returns the same offset, or the one before it if it would split a surrogate pair. */
export function alignToCharacter(text: string, end: number): number {
  return end < text.length && (text.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end;
}
