import type { WebChat } from '@parley/channels/web';

/** Until when the answers of a chat were seen in this browser, in ms; one key for each chat. */
const SEEN = 'parley.seen.';

type Answered = Pick<WebChat, 'id' | 'answeredAt'>;

/**
 * The chats with answers that were not seen in this browser. What the chat that is `shown` has is seen, also where the
 * list does not know of it yet; and so is what was there before this browser knew of a chat.
 */
export function unseenChats(
  chats: readonly Answered[],
  shown: Answered,
  storage: Pick<Storage, 'getItem' | 'setItem'>,
): ReadonlySet<string> {
  const isNew = ({ id, answeredAt }: Answered) =>
    Number(storage.getItem(SEEN + id) ?? -1) < answeredAt;
  const isKnown = ({ id }: Answered) => id !== shown.id && storage.getItem(SEEN + id) !== null;
  for (const chat of [shown, ...chats]) if (!isKnown(chat) && isNew(chat)) storeSeen(storage, chat);
  return new Set(chats.filter((chat) => isKnown(chat) && isNew(chat)).map(({ id }) => id));
}

function storeSeen(storage: Pick<Storage, 'setItem'>, { id, answeredAt }: Answered): void {
  try {
    storage.setItem(SEEN + id, String(answeredAt));
  } catch {
    // The browser's quota is used up: the mark stays.
  }
}
