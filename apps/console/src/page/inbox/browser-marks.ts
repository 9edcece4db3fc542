import type { WebChat } from '@parley/channels/web';
import type { InputOf } from '@parley/gateway/operations';
import type { ListedConversation } from './rows.ts';

/** The marks for a new inbox, in the format of `conversations/begin-inbox`. */
type BrowserMarks = InputOf<'conversations/begin-inbox'>;

/** The storage keys under which earlier versions of the page kept the marks in this browser. */
const MARKS = 'parley.inbox';
const SEEN = 'parley.seen';
/** The prefix of these keys; the id of a chat on the page follows. */
const SEEN_CHAT = 'parley.seen.';
/** The prefix that earlier versions put before the ids of chat rows. */
const CHAT_ROW = 'chat ';

/** The maximum length of each list that the operation accepts. */
const MAX_MARKS = 500;
const MAX_TITLE = 80;

interface KnownConversations {
  readonly conversations: readonly ListedConversation[];
  readonly chats: readonly WebChat[];
}

/**
 * The marks that are still stored in this browser, keyed by conversation id; null if there are
 * none.
 */
export function readBrowserMarks(
  storage: Pick<Storage, 'getItem'>,
  { conversations, chats }: KnownConversations,
): BrowserMarks | null {
  const stored = readStoredJson(storage, MARKS);
  const seen = readStoredJson(storage, SEEN);
  const isSeen = ({ id, answeredAt }: WebChat) =>
    Number(storage.getItem(SEEN_CHAT + id) ?? Number.MAX_VALUE) >= answeredAt;
  const hasChats = chats.some(({ id }) => storage.getItem(SEEN_CHAT + id) !== null);
  if (stored === null && seen === null && !hasChats) return null;
  const idOf = (row: string): string =>
    chats.find(({ id }) => row === CHAT_ROW + id)?.conversation ?? row;
  const names = Object.entries(toRecord(stored?.names)).slice(0, MAX_MARKS);
  const unread = conversations.filter((one) => isUnread(one, seen)).map(({ id }) => id);
  const unreadChats = chats.filter((one) => !isSeen(one)).map(({ conversation }) => conversation);
  return {
    pinned: toIds(stored?.pinned).map(idOf),
    archived: toIds(stored?.archived).map(idOf),
    titles: Object.fromEntries(
      names.map(([row, name]) => [idOf(row), String(name).slice(0, MAX_TITLE)]),
    ),
    unread: [...new Set([...unread, ...unreadChats])].slice(0, MAX_MARKS),
  };
}

/** Removes the marks once the gateway has them. */
export function dropBrowserMarks(
  storage: Pick<Storage, 'removeItem'>,
  chats: readonly WebChat[],
): void {
  for (const key of [MARKS, SEEN, ...chats.map(({ id }) => SEEN_CHAT + id)]) {
    storage.removeItem(key);
  }
}

function isUnread({ channel, id, newest }: ListedConversation, seen: StoredRecord | null): boolean {
  if (channel === 'web' || seen === null) return false;
  return newest > Math.max(Number(seen.base) || 0, Number(toRecord(seen.upTo)[id]) || 0);
}

type StoredRecord = Readonly<Record<string, unknown>>;

/** Parses a stored value; null if it is missing or unusable. */
function readStoredJson(storage: Pick<Storage, 'getItem'>, key: string): StoredRecord | null {
  try {
    const value: unknown = JSON.parse(storage.getItem(key) ?? 'null');
    return value === null ? null : toRecord(value);
  } catch {
    return null;
  }
}

function toRecord(value: unknown): StoredRecord {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function toIds(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((one) => typeof one === 'string').slice(0, MAX_MARKS);
}
