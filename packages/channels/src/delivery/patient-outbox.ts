import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing, type OutboxRepository, StoreError } from '@parley/store';

const RETRY_DELAY_MS = 200;
/** A failed query that nothing explains may be an error of the disk, which passes, or a defect, which does not. */
const MAX_UNEXPLAINED = 50;

/**
 * An outbox in which the outcome of a send is stored however long the database is away, full or not writable, until the
 * signal fires (D04). Only this process knows the outcome: given up, a part that arrived, or never left, would be
 * uncertain. Rejects with any other error of the database, and once a query has failed for no known reason for ten
 * seconds: the part stays in `sending`, as after a crash.
 */
export function patientOutbox(outbox: OutboxRepository, signal: AbortSignal): OutboxRepository {
  return {
    ...outbox,
    markSent: (...sent) => untilStored(signal, () => outbox.markSent(...sent)),
    retryLater: (...retry) => untilStored(signal, () => outbox.retryLater(...retry)),
    markFailed: (...failure) => untilStored(signal, () => outbox.markFailed(...failure)),
  };
}

async function untilStored<T>(signal: AbortSignal, store: () => Promise<T>): Promise<T> {
  for (let unexplained = 0; ; ) {
    try {
      return await store();
    } catch (error) {
      if (error instanceof StoreError && error.code === 'store-failed') unexplained += 1;
      else if (!isPassing(error)) throw error;
      if (signal.aborted || unexplained > MAX_UNEXPLAINED) throw error;
      await sleep(RETRY_DELAY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
