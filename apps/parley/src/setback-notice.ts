import type { Clock, LiveBus, Logger } from '@parley/core';
import { notifyOwner } from '@parley/gateway';
import { startSweep } from '@parley/queue';
import type { Store } from '@parley/store';
import type { DataFolder } from './data-folder.ts';
import { describeRollback } from './database-mark.ts';

/** How often (ms) the state in memory is checked. The database is queried only after a rollback. */
const POLL_INTERVAL_MS = 5_000;
/** If a gateway starts more than this time (ms) after a rollback, it does not notify the owner. */
const NOTIFIED_WITHIN_MS = 7 * 24 * 60 * 60_000;

interface RollbackNoticeDeps {
  readonly store: Pick<Store, 'state' | 'inbox' | 'outbox' | 'groupContext'>;
  readonly bus: LiveBus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly folder: Pick<DataFolder, 'path'>;
}

/**
 * Notifies the owner that the database was rolled back, only once even with several gateways. The
 * returned function stops the checks.
 */
export function notifyOfRollbacks(
  deps: RollbackNoticeDeps,
  everyMs = POLL_INTERVAL_MS,
): () => Promise<void> {
  const { store, clock, log, folder } = deps;
  let notified = 0;
  const sweep = startSweep('setbacks', everyMs, log, async () => {
    const { setbacks, seen } = store.state;
    if (setbacks === notified || seen === null) return;
    const setback = await store.state.lastSetback();
    if (setback !== null && clock() - setback.at < NOTIFIED_WITHIN_MS) {
      await notifyOwner(
        deps,
        `setback ${seen.name} ${setback.count}`,
        describeRollback(setback, folder),
      );
    }
    notified = setbacks;
  });
  return () => sweep.stop();
}
