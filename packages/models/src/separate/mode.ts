import type { Marker } from './markers.ts';

/** The state of the separator. */
export type Mode =
  | { readonly kind: 'text' }
  /** The entire answer so far may be one unmarked call. */
  | { readonly kind: 'bare' }
  /**
   * `content`: what was hidden since `raw`, its opening; `line`: its last line; `isFirst`: nothing
   * was shown before.
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
   * `tail`: where its end may be; `isMarked`: it stands where only a call can, so it is never
   * shown.
   */
  | {
      readonly kind: 'call';
      readonly marker: Marker;
      raw: string;
      tail: string;
      readonly isMarked: boolean;
    };

/** Reasoning that begins here, with nothing of it read yet. */
export function reasoningMode(marker: Marker, raw: string, isFirst: boolean): Mode {
  return { kind: 'reasoning', marker, raw, content: '', line: '', isFirst };
}
