import type { DiscordMark } from './discord-mark.ts';

/** Text or code with its marks, outermost first. */
export interface Piece {
  readonly kind: 'text' | 'code';
  readonly text: string;
  readonly marks: readonly DiscordMark[];
}

/** Inline content in the order in which it is written. */
export type Segment =
  | Piece
  /** An address that shows itself. */
  | { readonly kind: 'address'; readonly text: string; readonly marks: readonly DiscordMark[] }
  /** Text with an address behind it; it consists of text and code. */
  | {
      readonly kind: 'masked';
      readonly url: string;
      readonly inner: readonly Piece[];
      readonly marks: readonly DiscordMark[];
    };

/** The marks that both have, from the outermost on. */
export function commonMarks(
  a: readonly DiscordMark[],
  b: readonly DiscordMark[],
): readonly DiscordMark[] {
  let depth = 0;
  while (depth < a.length && a[depth] === b[depth]) depth += 1;
  return a.slice(0, depth);
}
