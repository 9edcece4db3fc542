import type { Clock } from '@parley/contracts';
import type { InboxRepository } from '@parley/store';

/** How many messages of all conversations wait, as far as one account must know (D07). */
export interface WaitingRoom {
  /** Whether one more may wait. */
  hasRoom(): Promise<boolean>;
  /** One more waits. */
  took(): void;
}

/** Between two looks only the messages of this account are counted, those of others are not. In ms. */
const LOOK_EVERY_MS = 1_000;
/** While there is no room, so that a flood does not count all that waits for each of its messages. In ms. */
const LOOK_AGAIN_MS = 50;

/** Looks how many wait at most once a second, and sooner only where the bound is near. */
export function createWaitingRoom(
  inbox: Pick<InboxRepository, 'waitingInAll'>,
  limit: number,
  clock: Clock,
): WaitingRoom {
  let known = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  return {
    async hasRoom() {
      const age = clock() - lookedAt;
      if (age >= LOOK_EVERY_MS || (known >= limit && age >= LOOK_AGAIN_MS)) {
        known = await inbox.waitingInAll();
        lookedAt = clock();
      }
      return known < limit;
    },
    took() {
      known += 1;
    },
  };
}
