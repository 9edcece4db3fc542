import type { Formats } from './expected.ts';

/** Which formats a character may be seen with. */
export interface FormatRule {
  readonly must: Formats;
  /** Besides those it must have; undefined: any. */
  readonly may: Formats | undefined;
}

/** One step of reading what was sent. Steps follow each other unless a fork says otherwise. */
export type Step =
  | {
      readonly op: 'characters';
      readonly characters: readonly string[];
      /** Undefined: any. */
      readonly formats: FormatRule | undefined;
      /** Added by the renderer: a line that begins with it has not started with content. */
      readonly added: boolean;
      /** No new part may begin before its first character. */
      readonly joined: boolean;
      /** No new part may begin before its other characters. */
      readonly whole: boolean;
      /** In a quote: a line may begin with quote marks. */
      readonly quoted: boolean;
    }
  /** Any of these may come next. */
  | { readonly op: 'fork'; readonly to: number[] }
  /** Goes on only where a new part begins. */
  | { readonly op: 'at-part' }
  /** Goes on only where no new part begins. */
  | { readonly op: 'within-part' }
  /** Quote marks may stand at the end of a quote too. */
  | { readonly op: 'quote-end' }
  | { readonly op: 'end' };

/**
 * All that may be seen of a document, as a program for `match`: a sequence of characters with the
 * few places where the renderer has a choice.
 */
export type Program = readonly Step[];
