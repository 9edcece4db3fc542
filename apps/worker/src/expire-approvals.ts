import type { Clock, Logger } from '@parley/contracts';
import { type Sweep, startSweep, type WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';

/** What closing old questions needs. */
export interface ExpireApprovalsDeps {
  readonly store: Pick<Store, 'approvals'>;
  readonly turns: Pick<WakeUpQueue, 'kick'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** People answer in minutes: ten seconds late is in time. */
const LOOK_EVERY_MS = 10_000;

/**
 * Closes questions that nobody has answered in time, also those whose time ran out while nothing ran
 * (G05), and wakes their turns. A wake-up that gets lost is made good by the sweep of lanes.
 */
export function expireApprovals({ store, turns, clock, log }: ExpireApprovalsDeps): Sweep {
  return startSweep('old approvals', LOOK_EVERY_MS, log, async () => {
    for (const id of await store.approvals.expire(clock())) await turns.kick(id);
  });
}
