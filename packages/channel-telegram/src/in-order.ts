import type { WireUpdate } from './wire.ts';

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

/** What belongs to one chat is taken in order; anything else has nothing to wait for. */
export function laneOf(update: WireUpdate): string {
  const { update_id, ...contents } = update;
  const [content] = Object.values(contents);
  const chat = fieldOf(fieldOf(content, 'message'), 'chat') ?? fieldOf(content, 'chat');
  const id = fieldOf(chat, 'id');
  return typeof id === 'number' ? String(id) : `update ${update_id}`;
}

/** What comes from outside may be anything, and is checked as a whole when it is taken. */
function fieldOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null;
  return isObject ? Reflect.get(value, name) : undefined;
}

/** Runs tasks of one lane one after the other, in the order they were given, and lanes side by side. */
export type InLanes = <T>(lane: string, task: () => Promise<T>) => Promise<T>;

/** Makes lanes that are forgotten when they are empty. A task that fails holds nobody up. */
export function createLanes(): InLanes {
  const last = new Map<string, Promise<unknown>>();
  return (lane, task) => {
    const before = last.get(lane) ?? Promise.resolve();
    const running = before.then(task);
    const over = running
      .catch(() => undefined)
      .finally(() => {
        if (last.get(lane) === over) last.delete(lane);
      });
    last.set(lane, over);
    return running;
  };
}
