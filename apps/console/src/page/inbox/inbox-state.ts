import type { Signal } from '@preact/signals';
import type { InboxRow } from './rows.ts';

/** The state that the frame, the list and the panel of the inbox share. */
export interface InboxState {
  /** The row of the conversation that is shown; null: it is not in the list yet, or none is shown. */
  readonly row: Signal<InboxRow | null>;
  /** The row that is shown next once this one is gone; null: there is none. */
  readonly next: Signal<InboxRow | null>;
  /** Counts what was done elsewhere on the page: the list is loaded again when it changes. */
  readonly round: Signal<number>;
  /** The panel beside the conversation is open where there is no room for it. */
  readonly isPanelOpen: Signal<boolean>;
}
