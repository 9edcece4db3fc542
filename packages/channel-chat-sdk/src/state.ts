import { type AdapterValue, type AdapterValues, BoundedMap, type Clock } from '@parley/core';
import type { Lock, QueueEntry, StateAdapter } from 'chat';
import { z } from 'zod';
import type { CurrentEvent, EventScope, StoredValue } from './event-scope.ts';

interface StateDeps {
  readonly values: Pick<AdapterValues, 'get' | 'set'>;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly current: CurrentEvent;
  /** The value for a key that was never set; null for most keys. */
  readonly assume: (key: string) => unknown;
}

const Stored = z.object({ value: z.unknown(), until: z.number().optional() });
const KIND = 'state';
/**
 * A value with a shorter lifetime (ms) than this is a cache that the adapter can refill, so it
 * stays in memory. Users, channel names and delivered events are such caches. Installations,
 * identities and Teams addresses are stored.
 */
const STORED_FROM_MS = 10 * 24 * 60 * 60_000;
const MAX_CACHED = 20_000;
const MAX_LIST = 1_000;

/**
 * An adapter's state, kept in its account's store. Each account is served by a single gateway, so
 * locks can be in memory.
 */
export class ChatState implements StateAdapter {
  readonly #deps: StateDeps;
  /** Null if the store does not contain the value. */
  readonly #known = new BoundedMap<string, StoredValue | null>(MAX_CACHED);
  readonly #locks = new Map<string, Lock>();

  constructor(deps: StateDeps) {
    this.#deps = deps;
  }

  async connect(): Promise<void> {}
  async disconnect(): Promise<void> {}

  async get<T = unknown>(key: string): Promise<T | null> {
    const kept = this.#deps.current.scope?.writes.get(key);
    const value = this.#valid(kept === undefined ? await this.#load(key) : kept);
    return (value ?? this.#deps.assume(key)) as T | null;
  }

  async set<T = unknown>(key: string, value: T, ttlMs?: number): Promise<void> {
    const until = ttlMs === undefined ? undefined : this.#deps.clock() + ttlMs;
    await this.#write(key, { value, until });
  }

  async setIfNotExists(key: string, value: unknown, ttlMs?: number): Promise<boolean> {
    if ((await this.get(key)) !== null) return false;
    await this.set(key, value, ttlMs);
    return true;
  }

  async delete(key: string): Promise<void> {
    await this.#write(key, null);
  }

  async appendToList(
    key: string,
    value: unknown,
    { maxLength = MAX_LIST, ttlMs }: { maxLength?: number; ttlMs?: number } = {},
  ): Promise<void> {
    const list = [...(await this.getList(key)), value];
    await this.set(listKey(key), list.slice(-maxLength), ttlMs);
  }

  async getList<T = unknown>(key: string): Promise<T[]> {
    const list = await this.get(listKey(key));
    return Array.isArray(list) ? list : [];
  }

  async subscribe(threadId: string): Promise<void> {
    await this.set(subscription(threadId), true);
  }

  async unsubscribe(threadId: string): Promise<void> {
    await this.delete(subscription(threadId));
  }

  async isSubscribed(threadId: string): Promise<boolean> {
    return (await this.get(subscription(threadId))) === true;
  }

  async acquireLock(threadId: string, ttlMs: number): Promise<Lock | null> {
    const now = this.#deps.clock();
    const held = this.#locks.get(threadId);
    if (held !== undefined && held.expiresAt > now) return null;
    const lock = { threadId, token: this.#deps.newId(), expiresAt: now + ttlMs };
    this.#locks.set(threadId, lock);
    return lock;
  }

  async extendLock({ threadId, token }: Lock, ttlMs: number): Promise<boolean> {
    const now = this.#deps.clock();
    const held = this.#locks.get(threadId);
    if (held?.token !== token || held.expiresAt <= now) return false;
    this.#locks.set(threadId, { ...held, expiresAt: now + ttlMs });
    return true;
  }

  async releaseLock({ threadId, token }: Lock): Promise<void> {
    if (this.#locks.get(threadId)?.token === token) this.#locks.delete(threadId);
  }

  async forceReleaseLock(threadId: string): Promise<void> {
    this.#locks.delete(threadId);
  }

  // Adapters do not use the queue. It belongs to the `Chat` class and is replaced by the inbox.
  async enqueue(_threadId: string, _entry: QueueEntry): Promise<number> {
    throw new Error("Messages wait in Parley's inbox, not in an adapter's state.");
  }

  async dequeue(): Promise<QueueEntry | null> {
    return null;
  }

  async queueDepth(): Promise<number> {
    return 0;
  }

  /**
   * Applies the values that an adapter has written during an event, now that the event is stored.
   */
  async apply({ writes }: EventScope): Promise<void> {
    await this.#keep([...writes]);
  }

  async #write(key: string, value: StoredValue | null): Promise<void> {
    const { scope } = this.#deps.current;
    if (scope !== undefined) scope.writes.set(key, value);
    else await this.#keep([[key, value]]);
  }

  async #keep(
    changes: readonly (readonly [key: string, value: StoredValue | null])[],
  ): Promise<void> {
    const stored: AdapterValue[] = [];
    const changed = changes.filter(
      ([key, value]) => !isSameStoredValue(this.#known.get(key), value, this.#deps.clock()),
    );
    for (const [key, value] of changed) {
      const before = this.#known.get(key);
      const isStored = value !== null && this.#isStored(value);
      // A value that was never stored does not need to be deleted.
      const wasStored = before === undefined || (before !== null && this.#isStored(before));
      if (isStored) stored.push({ kind: KIND, id: key, value: JSON.stringify(value) });
      else if (wasStored && value === null) stored.push({ kind: KIND, id: key, value: null });
    }
    if (stored.length > 0) await this.#deps.values.set(stored);
    for (const [key, value] of changed) this.#known.set(key, value);
  }

  #isStored({ until }: StoredValue): boolean {
    return until === undefined || until - this.#deps.clock() >= STORED_FROM_MS;
  }

  async #load(key: string): Promise<StoredValue | null> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const text = (await this.#deps.values.get(KIND, [key])).get(key);
    const read = text === undefined ? undefined : Stored.safeParse(JSON.parse(text)).data;
    const kept = read === undefined ? null : { value: read.value, until: read.until };
    this.#known.set(key, kept);
    return kept;
  }

  #valid(kept: StoredValue | null): unknown {
    if (kept === null || (kept.until ?? Number.POSITIVE_INFINITY) <= this.#deps.clock())
      return null;
    return kept.value;
  }
}

const listKey = (key: string): string => `list ${key}`;
const subscription = (threadId: string): string => `subscribed ${threadId}`;

/**
 * Whether a write can be skipped because the stored value is the same and has more than half of its
 * lifetime left. Adapters write such values with every message.
 */
function isSameStoredValue(
  before: StoredValue | null | undefined,
  after: StoredValue | null,
  now: number,
): boolean {
  if (before === undefined || (before === null) !== (after === null)) return false;
  if (before === null || after === null) return true;
  if (JSON.stringify(before.value) !== JSON.stringify(after.value)) return false;
  if (before.until === undefined || after.until === undefined) return before.until === after.until;
  return before.until - now > (after.until - now) / 2;
}
