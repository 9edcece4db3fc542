import type { Clock } from '@parley/core';
import type { InboxRepository } from '@parley/store';

/** How many messages of all conversations wait, as far as one account must know (D07). */
export interface WaitingRoom {
  /** Whether one more may wait; then `leave` must follow. */
  enter(): Promise<boolean>;
  /** It is decided: it waits now (`stays`), or it does not. */
  leave(stays: boolean): void;
}

/** Between two looks only the messages of this account are counted, those of others are not. In ms. */
const LOOK_EVERY_MS = 1_000;
/** While there is no room, so that a flood does not count all that waits for each of its messages. In ms. */
const LOOK_AGAIN_MS = 50;

/** Looks how many wait at most once a second, and sooner only where there is no room. */
export function createWaitingRoom(
  inbox: Pick<InboxRepository, 'waitingInAll'>,
  limit: number,
  clock: Clock,
): WaitingRoom {
  let known = 0;
  let since = 0;
  let entering = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;
  const isFull = (): boolean => known + since + entering >= limit;
  const look = async (): Promise<void> => {
    const counted = since;
    known = await inbox.waitingInAll();
    since -= counted;
    lookedAt = clock();
  };
  return {
    async enter() {
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
    leave(stays) {
      entering -= 1;
      if (stays) since += 1;
    },
  };
}
