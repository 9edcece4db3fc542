import { type Logger, reasonOf } from '@parley/core';
import type { DeadLetterWake } from '@parley/store';

/** The services that wake the processes with work to do. */
export interface WakeServices {
  readonly log: Logger;
  /** Wakes a lane or a delivery. */
  wake(to: DeadLetterWake): Promise<void>;
}

/**
 * Wakes a lane or a delivery after its work was stored. If the queue is unavailable, the operation
 * has succeeded all the same: the next sweep finds the work.
 */
export async function wakeIfPossible(
  { wake, log }: WakeServices,
  to: DeadLetterWake,
): Promise<void> {
  try {
    await wake(to);
  } catch (error) {
    log.warn({ ...to, reason: reasonOf(error) }, 'nothing was woken; the sweep finds the work');
  }
}
