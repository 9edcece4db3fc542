import { normalizeLetter } from '../inbox/highlight.ts';
import type { InboxRow } from '../inbox/rows.ts';

/** A destination or an action offered by the palette. */
export interface PaletteEntry {
  readonly id: string;
  readonly kind: 'Pages' | 'Chats' | 'Commands';
  readonly label: string;
  readonly hint: string;
}

/** What the page currently shows. */
interface CurrentChat {
  /** The chat on this page that was opened last. */
  readonly chat: string;
  /**
   * The conversation that is shown instead of the chat, for example for a search result; null if
   * there is none.
   */
  readonly conversation: string | null;
  /** The selected row in the inbox, which may belong to a chat on this page. */
  readonly row: Pick<InboxRow, 'id' | 'chat'> | null;
}

/** What a command acts on: a chat on this page to which it is sent, or a conversation. */
export type CommandTarget =
  | { readonly kind: 'chat'; readonly chat: string }
  | { readonly kind: 'conversation'; readonly id: string; readonly operation: ConversationCommand };

type ConversationCommand = 'conversations/stop' | 'conversations/new-session';

/** Commands for the open chat that the gateway can carry out on any channel. */
const ON_ANY_CHANNEL: Readonly<Record<string, ConversationCommand>> = {
  new: 'conversations/new-session',
  stop: 'conversations/stop',
};

/**
 * Returns what a command acts on. It is not possible to type into a chat on another channel, so
 * commands without an operation are sent to the chat on this page.
 */
export function resolveCommandTarget(
  command: string,
  { chat, conversation, row }: CurrentChat,
): CommandTarget {
  if (conversation === null) return { kind: 'chat', chat };
  if (row?.id === conversation && row.chat !== null) return { kind: 'chat', chat: row.chat };
  const operation = ON_ANY_CHANNEL[command];
  if (operation === undefined) return { kind: 'chat', chat };
  return { kind: 'conversation', id: conversation, operation };
}

/** The maximum number of entries shown. */
const MOST = 12;

/**
 * The entries that contain all typed words. Entries whose label starts with the typed text come
 * first.
 */
export function filterEntries<Entry extends PaletteEntry>(
  entries: readonly Entry[],
  typed: string,
): readonly Entry[] {
  const asked = normalizeLetter(typed.trim());
  const words = asked.split(/\s+/);
  const rank = ({ label }: PaletteEntry): number => {
    const text = normalizeLetter(label).replace(/^\//, '');
    if (text.startsWith(asked.replace(/^\//, ''))) return 0;
    return words.every((word) => text.includes(word)) ? 1 : 2;
  };
  return entries
    .filter(({ label, hint }) => {
      const text = normalizeLetter(`${label} ${hint}`);
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MOST);
}

/** The position after an arrow key, which wraps around at both ends; null for any other key. */
export function movePosition(key: string, at: number, count: number): number | null {
  if (count === 0) return null;
  if (key === 'ArrowDown') return (at + 1) % count;
  if (key === 'ArrowUp') return (at + count - 1) % count;
  return null;
}
