import type { ShownConversation } from '@parley/gateway/api';

/** Up to which message each conversation was looked at in this browser; older than `base` all were. */
export interface Seen {
  readonly base: number;
  readonly upTo: Readonly<Record<string, number>>;
}

type Known = Pick<ShownConversation, 'id' | 'newest'>;

/** Conversations that are remembered one by one. */
const MAX_REMEMBERED = 300;

/** Whether something was said since it was last looked at. */
export function isNew({ base, upTo }: Seen, { id, newest }: Known): boolean {
  return newest > Math.max(base, upTo[id] ?? 0);
}

/** The same after a look at a conversation; the very same where that is no news. */
export function markSeen(seen: Seen, conversation: Known): Seen {
  if (!isNew(seen, conversation)) return seen;
  const { id, newest } = conversation;
  const all = Object.entries({ ...seen.upTo, [id]: newest }).sort(([, a], [, b]) => b - a);
  return { ...seen, upTo: Object.fromEntries(all.slice(0, MAX_REMEMBERED)) };
}

/** The key of this origin's storage. */
const KEY = 'parley.seen';

/** The marks that this browser remembers; at the first visit everything counts as seen. */
export function readSeen(all: readonly Known[]): Seen {
  try {
    const { base, upTo } = JSON.parse(localStorage.getItem(KEY) ?? 'null');
    if (typeof base === 'number' && typeof upTo === 'object') return { base, upTo };
  } catch {
    // Nothing, or nothing of use, is stored.
  }
  return { base: Math.max(0, ...all.map(({ newest }) => newest)), upTo: {} };
}

export function keepSeen(seen: Seen): void {
  localStorage.setItem(KEY, JSON.stringify(seen));
}
