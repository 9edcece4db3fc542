import type { Marker } from './markers.ts';

/** The states of the separator. */
export type SeparatorMode =
  | { readonly kind: 'text' }
  /** The entire answer so far may be a single unmarked call. */
  | { readonly kind: 'bare' }
  /**
   * `content`: the hidden text after `raw`, the opening marker; `line`: its last line; `isFirst`:
   * no text was shown before it.
   */
  | {
      readonly kind: 'reasoning';
      readonly marker: Marker;
      readonly raw: string;
      content: string;
      line: string;
      readonly isFirst: boolean;
    }
  /**
   * `tail`: the text in which the end marker may be; `isMarked`: the block is at a position where
   * only a call can be, so it is never shown.
   */
  | {
      readonly kind: 'call';
      readonly marker: Marker;
      raw: string;
      tail: string;
      readonly isMarked: boolean;
    };

/** Reasoning that starts at this position, with no text read yet. */
export function startReasoning(marker: Marker, raw: string, isFirst: boolean): SeparatorMode {
  return { kind: 'reasoning', marker, raw, content: '', line: '', isFirst };
}
