import { type Logger, type Monotonic, reasonOf } from '@parley/core';
import type { LaneRepository, Lease } from '@parley/store';

/**
 * The lifetime of a lease without renewal, in ms. Afterwards, the lane of a crashed or stuck worker
 * is free and the sweep (every 3 s) finds it, so another worker answers within 15 s (D13).
 */
export const LEASE_MS = 8_000;
/**
 * How many times leases are checked for expiry during one lifetime, and how many of these checks
 * pass between renewals.
 */
const LOOKS_IN_A_LIFE = 10;
const LOOKS_TO_RENEW = 3;

interface LeaseRenewalDeps {
  readonly lanes: Pick<LaneRepository, 'renew'>;
  readonly monotonic: Monotonic;
  readonly log: Logger;
  /** The lifetime of a lease; defaults to `LEASE_MS`, and tests use less. */
  readonly leaseMs?: number;
}

/**
 * Keeps renewing a lease, requested at `askedAt` (monotonic ms), until the returned function is
 * called. `lost` is called at most once: when another worker holds the lease, or when the lease
 * expired because the database did not answer. A lost lease is not renewed again, even if the
 * database would allow it.
 */
export type KeepLeaseAlive = (lease: Lease, askedAt: number, lost: () => void) => () => void;

interface RenewedLease {
  readonly lease: Lease;
  /**
   * When the lease is lost unless it is renewed, in monotonic ms, so that changing the clock does
   * not end it.
   */
  until: number;
  readonly lost: () => void;
}

/**
 * Renews all of a worker's leases with one query, three times per lease lifetime. A slow database
 * does not receive more queries when more turns wait for it.
 */
export function startLeaseRenewal({
  lanes,
  monotonic,
  log,
  leaseMs = LEASE_MS,
}: LeaseRenewalDeps): KeepLeaseAlive {
  const kept = new Set<RenewedLease>();
  let timer: NodeJS.Timeout | undefined;
  let renewing = false;
  let looks = 0;
  const drop = (one: RenewedLease): void => {
    kept.delete(one);
    if (kept.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const lose = (one: RenewedLease): void => {
    drop(one);
    one.lost();
  };
  const renew = async (): Promise<void> => {
    const all = [...kept];
    const until = monotonic() + leaseMs;
    renewing = true;
    try {
      const leases = all.map(({ lease }) => lease);
      const asked = await lanes.renew(leases, leaseMs);
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
    for (const one of [...kept]) if (monotonic() >= one.until) lose(one);
    looks += 1;
    // A slow renewal must finish before the next one starts; a second one would only compete with
    // it.
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
