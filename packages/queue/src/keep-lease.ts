import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { LaneRepository, Lease } from '@parley/store';

/** How long a lease lives without renewal, in ms; a dead worker's lane is free again after this. */
export const LEASE_MS = 10_000;

/** What renewing needs. */
export interface KeepLeaseDeps {
  readonly lanes: Pick<LaneRepository, 'renew'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** `LEASE_MS` when absent; tests cannot wait that long. */
  readonly leaseMs?: number;
}

/**
 * Renews a lease by timer until the returned function is called, three times in its life. `lost` is
 * called when another worker has it, or when it ran out because the database did not answer.
 */
export function keepLease(deps: KeepLeaseDeps, lease: Lease, lost: () => void): () => void {
  const { lanes, clock, log, leaseMs = LEASE_MS } = deps;
  let until = clock() + leaseMs;
  const renew = async (): Promise<void> => {
    const next = clock() + leaseMs;
    try {
      if (await lanes.renew(lease, next)) until = Math.max(until, next);
      else lost();
    } catch (error) {
      log.warn(
        { conversation: lease.conversationId, reason: reasonOf(error) },
        'lease not renewed',
      );
      if (clock() >= until) lost();
    }
  };
  const timer = setInterval(() => void renew(), leaseMs * 0.3);
  return () => clearInterval(timer);
}
