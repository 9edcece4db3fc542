import type { HistoryEntry } from '@parley/channels';
import type { WebHistoryEntry } from './web-event.ts';

/** A line of the history as pages and terminals get it. */
export function shownEntry(entry: HistoryEntry): WebHistoryEntry {
  if (entry.kind === 'inbound') {
    const { messageId, text, at, outcome } = entry;
    return { type: 'inbound', messageId, text, at, outcome };
  }
  const { partId, turnId, body, buttons, at } = entry;
  return { type: 'part', partId, turnId, text: body.text, ...(buttons && { buttons }), at };
}
