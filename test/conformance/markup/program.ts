import type { Formats } from './expected.ts';

/** The formats in which a character may be shown. */
export interface FormatRule {
  readonly must: Formats;
  /** Formats allowed in addition to the required formats; undefined for any. */
  readonly may: Formats | undefined;
}

/** One step of reading the sent text. Steps run in sequence unless a fork says otherwise. */
export type ProgramStep =
  | {
      readonly op: 'characters';
      readonly characters: readonly string[];
      /** Undefined accepts any formats. */
      readonly formats: FormatRule | undefined;
      /**
       * Whether the renderer added the text; a line that starts with added text has no content yet.
       */
      readonly added: boolean;
      /** No new part may start before the first character. */
      readonly joined: boolean;
      /** No new part may start before the other characters. */
      readonly whole: boolean;
      /** Inside a quote, where a line may start with quote marks. */
      readonly quoted: boolean;
    }
  /** Continues at any of these steps. */
  | { readonly op: 'fork'; readonly to: number[] }
  /** Matches only where a new part starts. */
  | { readonly op: 'at-part' }
  /** Matches only where no new part starts. */
  | { readonly op: 'within-part' }
  /** Quote marks may also appear at the end of a quote. */
  | { readonly op: 'quote-end' }
  | { readonly op: 'end' };

/**
 * All content of a document that may be visible, as a program for `match`: a sequence of characters
 * with a few choices for the renderer.
 */
export type ReadingProgram = readonly ProgramStep[];
