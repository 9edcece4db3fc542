import type { Clock } from '@parley/core';
import type { InboxRepository } from '@parley/store';

/** Bounds the messages that wait in all conversations, as one account counts them (D07). */
export interface BacklogLimit {
  /** True: one more may wait, and `release` must follow. */
  reserve(): Promise<boolean>;
  /** `stays`: the message was stored and waits now. */
  release(stays: boolean): void;
}

/** Between two queries only the messages of this account are counted. In ms. */
const LOOK_EVERY_MS = 1_000;
/** While the limit is reached: a flood must not cost a query for each message. In ms. */
const LOOK_AGAIN_MS = 50;

/** Queries the number of waiting messages at most once a second, more often only at the limit. */
export function createBacklogLimit(
  inbox: Pick<InboxRepository, 'waitingInAll'>,
  /** As the settings have it now. */
  limit: () => number,
  clock: Clock,
): BacklogLimit {
  let known = 0;
  let since = 0;
  let entering = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;
  const isFull = (): boolean => known + since + entering >= limit();
  const look = async (): Promise<void> => {
    const counted = since;
    known = await inbox.waitingInAll();
    since -= counted;
    lookedAt = clock();
  };
  return {
    async reserve() {
      const age = clock() - lookedAt;
      if (age >= LOOK_EVERY_MS || (isFull() && age >= LOOK_AGAIN_MS)) {
        looking ??= look().finally(() => {
          looking = null;
        });
        await looking;
      }
      if (isFull()) return false;
      entering += 1;
      return true;
    },
    release(stays) {
      entering -= 1;
      if (stays) since += 1;
    },
  };
}
