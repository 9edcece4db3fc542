import type { Clock, Monotonic } from '@parley/core';
import type { OldestWork } from '@parley/store';

/**
 * The time (ms) after which waiting work counts as stalled. It is twice the 15 s within which work
 * starts in a healthy deployment (D13).
 */
const STALLED_AFTER_MS = 30_000;

/** Work that has waited longer than permitted, with its age in ms. */
export interface StalledWork {
  /** The age of the oldest message, and whether a turn has started or ended during that time. */
  readonly messages: { readonly ageMs: number; readonly noTurns: boolean } | null;
  /** The accounts (such as `telegram/default`) whose oldest message part has waited too long. */
  readonly accounts: ReadonlyMap<string, number>;
}

/**
 * The detector remembers its last observation, because old work looks new if the clock is set back.
 * Work that is still the oldest after 30 s of monotonic time is stalled, regardless of its
 * timestamps.
 */
export function createStallDetector(clock: Clock, monotonic: Monotonic) {
  let seen: ReadonlyMap<string, number> = new Map();
  return (work: OldestWork): StalledWork => {
    const [now, tick] = [clock(), monotonic()];
    const seenNow = new Map<string, number>();
    const ageOf = (place: string, { seq, at }: { readonly seq: number; readonly at: number }) => {
      const key = `${place} ${seq}`;
      const since = seen.get(key) ?? tick;
      seenNow.set(key, since);
      return Math.max(now - at, tick - since);
    };
    const messageAge = work.message === null ? 0 : ageOf('message', work.message);
    const accounts = new Map(
      work.parts
        .map((part) => [`${part.channel}/${part.account}`, ageOf('part', part)] as const)
        .filter(([, age]) => age > STALLED_AFTER_MS),
    );
    seen = seenNow;
    // A timestamp in the future does not prove activity, because the turn may have run before the
    // clock was set back.
    const sinceTurn = now - (work.lastTurnAt ?? Number.NEGATIVE_INFINITY);
    const noTurns = sinceTurn < 0 || sinceTurn > STALLED_AFTER_MS;
    const isStalled = messageAge > STALLED_AFTER_MS;
    return { messages: isStalled ? { ageMs: messageAge, noTurns } : null, accounts };
  };
}
