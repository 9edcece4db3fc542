import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing, type OutboxRepository } from '@parley/store';

const STORE_AGAIN_MS = 200;

/**
 * An outbox in which the outcome of a send is stored however long the database is away, full or not writable, until the
 * signal fires (D04). Only this process knows the outcome: given up, a part that arrived, or never left, would be
 * uncertain. Rejects with any other error of the database: the part stays in `sending`, as after a crash.
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
  for (;;) {
    try {
      return await store();
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error;
      await sleep(STORE_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
