import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { NamedLease, Store } from '@parley/store';
import type { AccountRight } from './account-rights.ts';

/** What keeping a right needs. */
export interface KeepRightDeps {
  readonly store: Pick<Store, 'leases' | 'outbox'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly leaseMs: number;
}

/**
 * Prolongs a lease until it is released or lost. It counts as lost a sixth of its time before it runs
 * out, whether the database answers or not, so that sends are ended before another gateway begins.
 */
export function keepRight(deps: KeepRightDeps, lease: NamedLease, until: number): AccountRight {
  const { store, clock, log, leaseMs } = deps;
  const lost = new AbortController();
  const lose = (): void => {
    if (lost.signal.aborted) return;
    end();
    log.warn({ lease: lease.name }, 'another gateway may serve this account now');
    lost.abort();
  };
  const countDown = (end: number): NodeJS.Timeout =>
    setTimeout(lose, Math.max(0, end - leaseMs / 6 - clock()));
  let deadline = countDown(until);
  const renew = async (): Promise<void> => {
    const next = clock() + leaseMs;
    try {
      if (!(await store.leases.renew(lease, next))) return lose();
      if (isOver) return;
      clearTimeout(deadline);
      deadline = countDown(next);
    } catch (error) {
      log.warn({ lease: lease.name, reason: reasonOf(error) }, 'lease not renewed');
    }
  };
  const timer = setInterval(() => void renew(), leaseMs / 4);
  let isOver = false;
  function end(): void {
    isOver = true;
    clearInterval(timer);
    clearTimeout(deadline);
  }
  return {
    lost: lost.signal,
    outbox: store.outbox.under(lease),
    isShared: true,
    async release() {
      end();
      await store.leases.release(lease);
    },
  };
}
