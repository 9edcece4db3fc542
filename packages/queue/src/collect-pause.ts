/** What the lane knows when it asks whether to wait for more messages. */
export interface CollectFacts {
  /** When the newest waiting message was received (ms). */
  readonly newestWaiting: number;
  readonly now: number;
  /** Quiet time that ends a burst, in ms. */
  readonly pauseMs: number;
  /** When the lane began to wait; a person who never stops typing is answered all the same. */
  readonly waitingSince: number;
}

/** A burst is cut after this many pauses, so that an answer comes even to somebody who keeps writing. */
const LONGEST_WAIT_IN_PAUSES = 10;

/** How many ms to wait before the messages written during a turn become the next one (D03); 0 means go. */
export function collectPause(facts: CollectFacts): number {
  const quietIn = facts.newestWaiting + facts.pauseMs - facts.now;
  const patience = facts.waitingSince + LONGEST_WAIT_IN_PAUSES * facts.pauseMs - facts.now;
  return Math.max(0, Math.min(quietIn, patience, facts.pauseMs));
}
