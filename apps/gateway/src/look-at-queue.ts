import type { Clock } from '@parley/contracts';
import type { Store } from '@parley/store';

/** Entries of each list; the totals tell whether there are more. */
const SHOWN = 50;

/** What waits, runs and is still to be sent, and what was given up, for the page (U03). */
export async function lookAtQueue(
  store: Pick<Store, 'backlog' | 'outbox' | 'deadLetters'>,
  clock: Clock,
): Promise<object> {
  const [backlog, parts, dead] = await Promise.all([
    store.backlog.look(SHOWN),
    store.outbox.counts(),
    store.deadLetters.counts(),
  ]);
  return { now: clock(), ...backlog, parts, dead };
}
