import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { LaneRepository, Lease } from '@parley/store';

/** How long a lease lives without renewal, in ms; a dead worker's lane is free again after this. */
export const LEASE_MS = 10_000;

/** What renewing needs. */
export interface KeepLeasesDeps {
  readonly lanes: Pick<LaneRepository, 'renew'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** `LEASE_MS` when absent; tests cannot wait that long. */
  readonly leaseMs?: number;
}

/**
 * Renews a lease that was asked for at `askedAt` (ms) until the returned function is called. `lost` is
 * called when another worker has it, or when it ran out because the database did not answer.
 */
export type KeepLease = (lease: Lease, askedAt: number, lost: () => void) => () => void;

interface Kept {
  readonly lease: Lease;
  until: number;
  readonly lost: () => void;
}

/**
 * Renews all leases of a worker with one query, three times in their life: a database that is slow must
 * not be asked the more, the more turns wait for it.
 */
export function keepLeases({ lanes, clock, log, leaseMs = LEASE_MS }: KeepLeasesDeps): KeepLease {
  const kept = new Set<Kept>();
  let timer: NodeJS.Timeout | undefined;
  let renewing = false;
  const renew = async (): Promise<void> => {
    const all = [...kept];
    const until = clock() + leaseMs;
    renewing = true;
    try {
      const leases = all.map(({ lease }) => lease);
      const renewed = new Set(await lanes.renew(leases, until));
      for (const one of all) {
        if (renewed.has(one.lease.conversationId)) one.until = until;
        else if (kept.has(one)) one.lost();
      }
    } catch (error) {
      log.warn({ leases: all.length, reason: reasonOf(error) }, 'leases not renewed');
    } finally {
      renewing = false;
    }
  };
  const tick = (): void => {
    for (const { until, lost } of [...kept]) if (clock() >= until) lost();
    // A renewal that takes longer than this is waited for: another one would only be in its way.
    if (!renewing) void renew();
  };
  return (lease, askedAt, lost) => {
    const one = { lease, until: askedAt + leaseMs, lost };
    kept.add(one);
    timer ??= setInterval(tick, leaseMs * 0.3);
    return () => {
      kept.delete(one);
      if (kept.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  };
}
