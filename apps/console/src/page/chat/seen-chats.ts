import type { WebChat } from '@parley/channels/web';

/** Until when the answers of a chat were seen in this browser, in ms; one key for each chat. */
const SEEN = 'parley.seen.';

/**
 * The chats with answers that were not seen in this browser. The chat that is shown is seen, and so is what was there
 * before this browser knew of it.
 */
export function unseenChats(
  chats: readonly Pick<WebChat, 'id' | 'answeredAt'>[],
  shown: string,
  storage: Pick<Storage, 'getItem' | 'setItem'>,
): ReadonlySet<string> {
  const unseen = new Set<string>();
  for (const { id, answeredAt } of chats) {
    const seen = storage.getItem(SEEN + id);
    if (id !== shown && seen !== null && Number(seen) < answeredAt) unseen.add(id);
    else if (Number(seen ?? -1) < answeredAt) keep(storage, id, answeredAt);
  }
  return unseen;
}

function keep(storage: Pick<Storage, 'setItem'>, id: string, at: number): void {
  try {
    storage.setItem(SEEN + id, String(at));
  } catch {
    // The browser's quota is used up: the mark stays.
  }
}
