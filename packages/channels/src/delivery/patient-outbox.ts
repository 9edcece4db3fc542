import { setTimeout as sleep } from 'node:timers/promises';
import { isTemporaryFailure, type OutboxRepository, StoreError } from '@parley/store';

const RETRY_DELAY_MS = 200;
/**
 * An unexplained query failure may be a disk error, which is temporary, or a bug, which is
 * permanent.
 */
const MAX_UNEXPLAINED = 50;

/**
 * Wraps an outbox so that it keeps trying to store the outcome of a send while the database is
 * unavailable, full or read-only, until the signal fires (D04). Only this process has the outcome:
 * if it gave up, a part that arrived, or was never sent, would be uncertain. Rejects on any other
 * database error, and once a query has failed for ten seconds for an unknown reason: the part then
 * stays in `sending`, as after a crash.
 */
export function createRetryingOutbox(
  outbox: OutboxRepository,
  signal: AbortSignal,
): OutboxRepository {
  return {
    ...outbox,
    markSent: (...sent) => retryUntilStored(signal, () => outbox.markSent(...sent)),
    retryLater: (...retry) => retryUntilStored(signal, () => outbox.retryLater(...retry)),
    markFailed: (...failure) => retryUntilStored(signal, () => outbox.markFailed(...failure)),
  };
}

async function retryUntilStored<T>(signal: AbortSignal, store: () => Promise<T>): Promise<T> {
  for (let unexplained = 0; ; ) {
    try {
      return await store();
    } catch (error) {
      if (error instanceof StoreError && error.code === 'store-failed') unexplained += 1;
      else if (!isTemporaryFailure(error)) throw error;
      if (signal.aborted || unexplained > MAX_UNEXPLAINED) throw error;
      await sleep(RETRY_DELAY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
