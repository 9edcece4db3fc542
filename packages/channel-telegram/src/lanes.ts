import type { WireUpdate } from './wire.ts';

/** The progress of the updates of one poll. */
interface BatchResult {
  /** All updates below this id may be confirmed. */
  readonly offset: number;
  /** Why a later update could not be admitted; it and its successors must come again. */
  readonly failure?: unknown;
}

/**
 * Admits the updates of one poll, each chat in order and chats side by side. When one cannot be admitted
 * its chat stops there, and nothing from it on is confirmed: Telegram brings it again, and what other
 * chats had stored in the meantime is recognised as a duplicate.
 */
export async function admitBatch(
  updates: readonly WireUpdate[],
  offset: number,
  laneOf: (update: WireUpdate) => string,
  admit: (update: WireUpdate) => Promise<void>,
): Promise<BatchResult> {
  const inLanes = createLanes();
  /** By lane. */
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
 * The lane of an update. Updates of one chat are admitted in order; any other has nothing to wait for. Chats of one
 * business account wait for what is said about its connection.
 */
export function laneOf(update: WireUpdate): string {
  const { update_id, ...contents } = update;
  const [content] = Object.values(contents);
  const connection =
    fieldOf(update.business_connection, 'id') ??
    fieldOf(fieldOf(content, 'message') ?? content, 'business_connection_id');
  if (typeof connection === 'string') return `business ${connection}`;
  const chat = fieldOf(fieldOf(content, 'message'), 'chat') ?? fieldOf(content, 'chat');
  const id = fieldOf(chat, 'id');
  return typeof id === 'number' ? String(id) : `update ${update_id}`;
}

/** A field of a value from outside, which may be anything and is checked as a whole when it is admitted. */
function fieldOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null;
  return isObject ? Reflect.get(value, name) : undefined;
}

/** Runs tasks of one lane one after the other, in the order they were given, and lanes side by side. */
type InLanes = <T>(lane: string, task: () => Promise<T>) => Promise<T>;

/** Makes lanes that are forgotten when they are empty. A failed task blocks no other. */
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
