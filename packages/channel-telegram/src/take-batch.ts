import type { WireUpdate } from './wire-message.ts';

/** How far the updates of one poll have come. */
export interface BatchResult {
  /** All updates below this id may be confirmed. */
  readonly offset: number;
  /** Why a later update could not be taken; it and its successors must come again. */
  readonly failure?: unknown;
}

/**
 * Takes the updates of one poll, each chat in order and chats side by side. When one cannot be taken
 * its chat stops there, and nothing from it on is confirmed: Telegram brings it again, and what other
 * chats had stored in the meantime is recognised as a duplicate.
 */
export async function takeBatch(
  updates: readonly WireUpdate[],
  offset: number,
  laneOf: (update: WireUpdate) => string,
  take: (update: WireUpdate) => Promise<void>,
): Promise<BatchResult> {
  const lanes = Map.groupBy(updates, laneOf);
  const failures = await Promise.all([...lanes.values()].map((lane) => takeLane(lane, take)));
  const [first] = failures
    .filter((failure) => failure !== undefined)
    .sort((a, b) => a.updateId - b.updateId);
  if (first !== undefined) return { offset: first.updateId, failure: first.reason };
  return { offset: Math.max(offset, ...updates.map(({ update_id }) => update_id + 1)) };
}

async function takeLane(
  lane: readonly WireUpdate[],
  take: (update: WireUpdate) => Promise<void>,
): Promise<{ updateId: number; reason: unknown } | undefined> {
  for (const update of lane) {
    try {
      await take(update);
    } catch (reason) {
      return { updateId: update.update_id, reason };
    }
  }
  return undefined;
}
