import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { LeaseRepository, NamedLease } from '@parley/store';
import type { Hold } from '@parley/workspace';

/** Whoever died with such a lease is replaced after this. In ms. */
const LEASE_MS = 6_000;
const RENEW_MS = 2_000;
/** So long before its end a lease is no longer relied on: clocks differ, and a renaming takes time. In ms. */
const RESERVE_MS = 1_500;

/** A lease by its name, for work of seconds. */
export interface LeaseDeps {
  readonly leases: LeaseRepository;
  readonly name: string;
  /** Who holds it, for people. */
  readonly owner: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** When a lease was asked for, on both clocks: one may be put back, the other stands while a machine sleeps. */
interface Asked {
  readonly at: number;
  readonly ticks: number;
}

/** Runs `work` if the lease is free now; busy says who has it. Throws what the database and `work` throw. */
export async function whileHeld<T>(
  deps: LeaseDeps,
  work: (hold: Hold) => Promise<T>,
): Promise<
  { readonly kind: 'done'; readonly result: T } | { readonly kind: 'busy'; readonly owner: string }
> {
  const asked = { at: deps.clock(), ticks: performance.now() };
  const taken = await deps.leases.acquire(deps.name, deps.owner, asked.at, LEASE_MS);
  if (taken.kind === 'busy') return taken;
  const kept = keep(deps, taken.lease, asked);
  try {
    return { kind: 'done', result: await work(kept) };
  } finally {
    kept.end();
    await giveBack(deps, taken.lease);
  }
}

function keep(
  { leases, name, clock, log }: LeaseDeps,
  lease: NamedLease,
  asked: Asked,
): Hold & { readonly end: () => void } {
  let last: Asked | null = asked;
  const renew = async (): Promise<void> => {
    const now = { at: clock(), ticks: performance.now() };
    try {
      last = (await leases.renew(lease, now.at + LEASE_MS)) ? now : null;
    } catch (error) {
      log.warn({ lease: name, reason: reasonOf(error) }, 'lease not renewed');
    }
  };
  const timer = setInterval(() => void renew(), RENEW_MS);
  return {
    isMine() {
      if (last === null) return false;
      const age = Math.max(clock() - last.at, performance.now() - last.ticks);
      return age < LEASE_MS - RESERVE_MS;
    },
    end: () => clearInterval(timer),
  };
}

/** A lease that cannot be given back runs out by itself. */
async function giveBack({ leases, name, log }: LeaseDeps, lease: NamedLease): Promise<void> {
  try {
    await leases.release(lease);
  } catch (error) {
    log.warn({ lease: name, reason: reasonOf(error) }, 'lease not given back');
  }
}
