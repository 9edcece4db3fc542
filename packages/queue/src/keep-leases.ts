import { type Clock, type Logger, reasonOf } from '@parley/core';
import type { LaneRepository, Lease } from '@parley/store';

/**
 * How long a lease lives without renewal, in ms. After this the lane of a dead or stuck worker is free,
 * and with the sweep that finds it (3 s) another worker answers within 15 s (D13).
 */
export const LEASE_MS = 8_000;
/** How often a worker looks for leases that ran out, and after how many looks it renews all. */
const LOOKS_IN_A_LIFE = 10;
const LOOKS_TO_RENEW = 3;

export interface KeepLeasesDeps {
  readonly lanes: Pick<LaneRepository, 'renew'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** `LEASE_MS` when absent; tests cannot wait that long. */
  readonly leaseMs?: number;
}

/**
 * Renews a lease that was asked for at `askedAt` (ms) until the returned function is called. `lost` is
 * called once: when another worker has it, or when it ran out because the database did not answer. It is
 * not renewed any more then, even if the database would allow it.
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
  let looks = 0;
  const drop = (one: Kept): void => {
    kept.delete(one);
    if (kept.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const lose = (one: Kept): void => {
    drop(one);
    one.lost();
  };
  const renew = async (): Promise<void> => {
    const all = [...kept];
    const until = clock() + leaseMs;
    renewing = true;
    try {
      const leases = all.map(({ lease }) => lease);
      const asked = await lanes.renew(leases, until);
      const [renewed, busy] = [new Set(asked.renewed), new Set(asked.busy)];
      for (const one of all) {
        if (renewed.has(one.lease.conversationId)) one.until = until;
        else if (!busy.has(one.lease.conversationId) && kept.has(one)) lose(one);
      }
    } catch (error) {
      log.warn({ leases: all.length, reason: reasonOf(error) }, 'leases not renewed');
    } finally {
      renewing = false;
    }
  };
  const tick = (): void => {
    for (const one of [...kept]) if (clock() >= one.until) lose(one);
    looks += 1;
    // A renewal that takes longer than this is waited for: another one would only be in its way.
    if (looks < LOOKS_TO_RENEW || renewing || kept.size === 0) return;
    looks = 0;
    void renew();
  };
  return (lease, askedAt, lost) => {
    const one = { lease, until: askedAt + leaseMs, lost };
    kept.add(one);
    timer ??= setInterval(tick, leaseMs / LOOKS_IN_A_LIFE);
    return () => drop(one);
  };
}
