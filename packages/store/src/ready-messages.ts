import type { BusyMode, ReplyRoute } from '@parley/core';
import type { InboxRow } from './rows.ts';

/**
 * The waiting messages that become a turn now, or the time at which some of them will (ms since the
 * Unix epoch).
 */
export type ReadyMessages =
  | { readonly kind: 'now'; readonly rows: readonly InboxRow[] }
  | { readonly kind: 'later'; readonly at: number }
  | { readonly kind: 'nothing' };

/** The time in ms after which a burst without an end is cut off, counted from its first message. */
const MAX_BURST_MS = 5_000;

/**
 * Selects the oldest messages that form one turn: all with the same destination or, in `followup`
 * mode, a single message. A burst always stays together (F08). Messages are taken from the start of
 * the queue only, because taking a later one first would break the order of the lane.
 */
export function selectReadyMessages(
  waiting: readonly InboxRow[],
  busy: BusyMode,
  now: number,
): ReadyMessages {
  const rows = selectRowsToSameDestination(waiting);
  const [first] = rows;
  if (first === undefined) return { kind: 'nothing' };
  let end = 0;
  while (end < rows.length) {
    const burst = findBurst(rows, end);
    const at = computeBurstEnd(burst);
    // A time further away than the longest possible burst means that the clock was set back.
    if (at > now && at - now <= MAX_BURST_MS)
      return end === 0 ? { kind: 'later', at } : { kind: 'now', rows: rows.slice(0, end) };
    end += burst.length;
    if (busy === 'followup') break;
  }
  return { kind: 'now', rows: rows.slice(0, end) };
}

/**
 * Takes the messages before the first one whose answer goes elsewhere; a message that requires JSON
 * is answered alone.
 */
function selectRowsToSameDestination(rows: readonly InboxRow[]): readonly InboxRow[] {
  const [first] = rows;
  if (first === undefined) return rows;
  if (first.message.responseFormat !== undefined) return [first];
  const end = rows.findIndex(
    ({ route, message }) =>
      message.responseFormat !== undefined || !isSameDestination(route, first.route),
  );
  return end === -1 ? rows : rows.slice(0, end);
}

/** Whether two answers go to the same thread in the same chat. */
export function isSameDestination(one: ReplyRoute, other: ReplyRoute): boolean {
  return (
    one.channel === other.channel &&
    one.account === other.account &&
    one.chatId === other.chatId &&
    one.threadId === other.threadId
  );
}

/**
 * Finds the burst that starts at an index: an album with the messages between its pictures, or a
 * long paste split into pieces; otherwise one message.
 */
function findBurst(rows: readonly InboxRow[], start: number): readonly InboxRow[] {
  let end = start;
  // A single message is the common case, handled first to avoid rescanning a long queue for each
  // message.
  if (rows[start]?.settlesAt === undefined) return rows.slice(start, start + 1);
  for (let next = start + 1; next < rows.length; next += 1) {
    const candidate = rows[next];
    if (candidate === undefined) break;
    if (rows.slice(start, end + 1).some((row) => isAlbumContinuation(row, candidate))) end = next;
  }
  return rows.slice(start, end + 1);
}

function isAlbumContinuation(row: InboxRow, next: InboxRow): boolean {
  if (row.settlesAt === undefined || row.message.sender.id !== next.message.sender.id) return false;
  const { albumId } = row.message;
  if (albumId !== undefined) return next.message.albumId === albumId;
  return next.receivedAt <= row.settlesAt;
}

/**
 * Computes when a burst counts as complete. A short piece ends a paste; only time ends an album.
 */
function computeBurstEnd(burst: readonly InboxRow[]): number {
  const [first, last] = [burst[0], burst.at(-1)];
  if (first === undefined || last?.settlesAt === undefined) return 0;
  return Math.min(last.settlesAt, first.receivedAt + MAX_BURST_MS);
}
