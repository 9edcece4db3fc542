import type { Marker } from './markers.ts';

/** The state of the separator. */
export type SeparatorMode =
  | { readonly kind: 'text' }
  /** The entire answer so far may be a single unmarked call. */
  | { readonly kind: 'bare' }
  /**
   * `content`: what was hidden after `raw`, its opening marker; `line`: its last line; `isFirst`:
   * nothing was shown before it.
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
   * `tail`: where its end marker may be; `isMarked`: it appears where only a call can be, so it is
   * never shown.
   */
  | {
      readonly kind: 'call';
      readonly marker: Marker;
      raw: string;
      tail: string;
      readonly isMarked: boolean;
    };

/** Reasoning that starts here, of which nothing has been read yet. */
export function startReasoning(marker: Marker, raw: string, isFirst: boolean): SeparatorMode {
  return { kind: 'reasoning', marker, raw, content: '', line: '', isFirst };
}
