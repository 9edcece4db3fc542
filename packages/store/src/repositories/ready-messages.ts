import type { BusyMode, ReplyRoute } from '@parley/contracts';
import type { InboxRow } from '../rows.ts';

/** What of the waiting messages becomes a turn now, or when something will (ms). */
export type Ready =
  | { readonly kind: 'now'; readonly rows: readonly InboxRow[] }
  | { readonly kind: 'later'; readonly at: number }
  | { readonly kind: 'nothing' };

/** A burst that never ends is cut this long after its first message, in ms. */
const LONGEST_BURST_MS = 5_000;

/**
 * The oldest messages that form one turn: all that go to the same place, or with `followup` one at a
 * time, bursts always whole (F08). Only a leading run, since taking a later message first would
 * break the order of the lane.
 */
export function readyMessages(waiting: readonly InboxRow[], busy: BusyMode, now: number): Ready {
  const rows = answeredTogether(waiting);
  const [first] = rows;
  if (first === undefined) return { kind: 'nothing' };
  let end = 0;
  while (end < rows.length) {
    const burst = burstFrom(rows, end);
    const at = settlesAt(burst);
    if (at > now)
      return end === 0 ? { kind: 'later', at } : { kind: 'now', rows: rows.slice(0, end) };
    end += burst.length;
    if (busy === 'followup') break;
  }
  return { kind: 'now', rows: rows.slice(0, end) };
}

/** Up to the first message whose answer goes elsewhere. */
function answeredTogether(rows: readonly InboxRow[]): readonly InboxRow[] {
  const [first] = rows;
  if (first === undefined) return rows;
  const end = rows.findIndex((row) => !goesToSamePlace(row.route, first.route));
  return end === -1 ? rows : rows.slice(0, end);
}

/** Whether two answers go to the same thread of the same chat. */
export function goesToSamePlace(one: ReplyRoute, other: ReplyRoute): boolean {
  return (
    one.channel === other.channel &&
    one.account === other.account &&
    one.chatId === other.chatId &&
    one.threadId === other.threadId
  );
}

/** An album with whatever was said between its pictures, or a long paste in pieces; else one message. */
function burstFrom(rows: readonly InboxRow[], start: number): readonly InboxRow[] {
  let end = start;
  // Nearly always; so a long queue is not gone through again for each of its messages.
  if (rows[start]?.settlesAt === undefined) return rows.slice(start, start + 1);
  for (let next = start + 1; next < rows.length; next += 1) {
    const candidate = rows[next];
    if (candidate === undefined) break;
    if (rows.slice(start, end + 1).some((row) => continues(row, candidate))) end = next;
  }
  return rows.slice(start, end + 1);
}

function continues(row: InboxRow, next: InboxRow): boolean {
  if (row.settlesAt === undefined || row.message.sender.id !== next.message.sender.id) return false;
  const { albumId } = row.message;
  if (albumId !== undefined) return next.message.albumId === albumId;
  return next.receivedAt <= row.settlesAt;
}

/** A short piece ends a paste; nothing ends an album but time. */
function settlesAt(burst: readonly InboxRow[]): number {
  const [first, last] = [burst[0], burst.at(-1)];
  if (first === undefined || last?.settlesAt === undefined) return 0;
  return Math.min(last.settlesAt, first.receivedAt + LONGEST_BURST_MS);
}
