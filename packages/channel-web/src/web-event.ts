import type { Button } from '@parley/contracts';

/**
 * What an open page or terminal is told while it watches a chat. Events may be missed: after a
 * reconnect the history is fetched again, and every id in it is the same.
 */
export type WebEvent =
  /** Somebody wrote, perhaps in another tab. */
  | {
      readonly type: 'inbound';
      readonly messageId: string;
      readonly text: string;
      readonly at: number;
    }
  /** A finished part of an answer, in the channel's dialect; it takes the place of the turn's stream. */
  | {
      readonly type: 'part';
      readonly partId: string;
      readonly turnId: string | null;
      readonly text: string;
      /** Below it; pressing one is as writing its data. */
      readonly buttons?: readonly Button[];
      readonly at: number;
    }
  | { readonly type: 'typing' }
  /** The answer so far, in the channel's dialect; replaces what was shown for this turn. */
  | { readonly type: 'stream'; readonly turnId: string; readonly text: string }
  /** The turn is over; without a part it was stopped or stayed silent. */
  | { readonly type: 'stream-end'; readonly turnId: string };

/** One entry of the history as the page gets it; the same ids as in the events. */
export type WebHistoryEntry =
  | Extract<WebEvent, { type: 'part' }>
  | (Extract<WebEvent, { type: 'inbound' }> & { readonly outcome: string | null });
