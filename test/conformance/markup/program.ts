import type { Formats } from './expected.ts';

/** The formats with which a character may be seen. */
export interface FormatRule {
  readonly must: Formats;
  /** Additional formats allowed beyond the required ones; undefined for any. */
  readonly may: Formats | undefined;
}

/** One step of reading what was sent. Steps run in sequence unless a fork says otherwise. */
export type Step =
  | {
      readonly op: 'characters';
      readonly characters: readonly string[];
      /** Undefined accepts any formats. */
      readonly formats: FormatRule | undefined;
      /** Whether the renderer added the text: a line that starts with it has no content yet. */
      readonly added: boolean;
      /** No new part may start before its first character. */
      readonly joined: boolean;
      /** No new part may start before its other characters. */
      readonly whole: boolean;
      /** Inside a quote, where a line may start with quote marks. */
      readonly quoted: boolean;
    }
  /** Continues at any of these steps. */
  | { readonly op: 'fork'; readonly to: number[] }
  /** Passes only where a new part starts. */
  | { readonly op: 'at-part' }
  /** Passes only where no new part starts. */
  | { readonly op: 'within-part' }
  /** Quote marks may also appear at the end of a quote. */
  | { readonly op: 'quote-end' }
  | { readonly op: 'end' };

/**
 * Everything that may be seen of a document, as a program for `match`: a sequence of characters
 * with the few places where the renderer has a choice.
 */
export type Program = readonly Step[];
