import type { Signal } from '@preact/signals';
import type { InboxRow, RowMarks } from './rows.ts';

/** The state that the frame, the list and the panel of the inbox share. */
export interface InboxState {
  readonly marks: Signal<RowMarks>;
  /** The row of the conversation that is shown; null: it is not in the list yet, or none is shown. */
  readonly row: Signal<InboxRow | null>;
  /** The panel beside the conversation is open where there is no room for it. */
  readonly isPanelOpen: Signal<boolean>;
}
