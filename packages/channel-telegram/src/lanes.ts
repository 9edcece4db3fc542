import { createLanes } from '@parley/core';
import type { WireUpdate } from './wire.ts';

/** The result of admitting the updates of one poll. */
interface BatchResult {
  /** All updates below this id may be confirmed. */
  readonly offset: number;
  /** Why an update could not be admitted; the update and all later ones must be delivered again. */
  readonly failure?: unknown;
}

/**
 * Admits the updates of one poll, in order within each chat and concurrently across chats. When an
 * update cannot be admitted, its chat stops there, and neither it nor any later update is
 * confirmed. Telegram delivers them again, and those that were already stored are recognized as
 * duplicates.
 */
export async function admitBatch(
  updates: readonly WireUpdate[],
  offset: number,
  laneOf: (update: WireUpdate) => string,
  admit: (update: WireUpdate) => Promise<void>,
): Promise<BatchResult> {
  const inLanes = createLanes();
  /** The first failed update of each lane. */
  const failed = new Map<string, { readonly id: number; readonly reason: unknown }>();
  const admitNext = async (update: WireUpdate, lane: string): Promise<void> => {
    if (failed.has(lane)) return;
    try {
      await admit(update);
    } catch (reason) {
      failed.set(lane, { id: update.update_id, reason });
    }
  };
  await Promise.all(
    updates.map((update) => inLanes(laneOf(update), () => admitNext(update, laneOf(update)))),
  );
  const [first] = [...failed.values()].sort((a, b) => a.id - b.id);
  if (first !== undefined) return { offset: first.id, failure: first.reason };
  return { offset: Math.max(offset, ...updates.map(({ update_id }) => update_id + 1)) };
}

/**
 * The lane of an update: updates of one chat are admitted in order, and an update without a chat
 * does not wait for others. All chats of a business account share one lane with the updates about
 * its connection.
 */
export function getUpdateLane(update: WireUpdate): string {
  const { update_id, ...contents } = update;
  const [content] = Object.values(contents);
  const connection =
    getField(update.business_connection, 'id') ??
    getField(getField(content, 'message') ?? content, 'business_connection_id');
  if (typeof connection === 'string') return `business ${connection}`;
  const chat = getField(getField(content, 'message'), 'chat') ?? getField(content, 'chat');
  const id = getField(chat, 'id');
  return typeof id === 'number' ? String(id) : `update ${update_id}`;
}

/**
 * Reads a field from an untrusted value of any type. The whole value is validated when the update
 * is admitted.
 */
function getField(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null;
  return isObject ? Reflect.get(value, name) : undefined;
}
