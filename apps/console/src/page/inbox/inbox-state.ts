import type { Signal } from '@preact/signals';
import type { InboxRow } from './rows.ts';

/** State shared by the frame, the list and the panel of the inbox. */
export interface InboxState {
  /**
   * The current conversation's row; null if no conversation is shown or if it is not in the list
   * yet.
   */
  readonly row: Signal<InboxRow | null>;
  /** The row to show when the current one disappears; null if there is none. */
  readonly next: Signal<InboxRow | null>;
  /** Incremented by actions elsewhere on the page; each change reloads the list. */
  readonly round: Signal<number>;
  /**
   * Whether the panel is open in a window that is too narrow to show it beside the conversation.
   */
  readonly isPanelOpen: Signal<boolean>;
}
