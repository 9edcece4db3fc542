/** The right to do one thing that only one process may do at a time. */
export interface NamedLease {
  /** For example `account:telegram/default`. */
  readonly name: string;
  /** Fencing token: grows with every acquisition. */
  readonly epoch: number;
}

/** Who holds what, for people. */
export interface HeldLease {
  readonly name: string;
  readonly owner: string;
  /** When it ends unless it is renewed (ms since 1970). */
  readonly until: number;
}

/**
 * Leases by name: whoever dies loses them after a while. Times are those of the callers, so their
 * clocks must agree to a fraction of the lease.
 */
export interface LeaseRepository {
  /**
   * Takes the lease if it is free or has run out. `busy` tells who holds it, also when that is the
   * asker, and how long (ms from `now`) it still runs.
   */
  acquire(
    name: string,
    owner: string,
    now: number,
    leaseMs: number,
  ): Promise<
    | { readonly kind: 'held'; readonly lease: NamedLease }
    | { readonly kind: 'busy'; readonly owner: string; readonly retryInMs: number }
  >;
  /** Prolongs the lease; false when it was lost. */
  renew(lease: NamedLease, until: number): Promise<boolean>;
  /** Gives it back; harmless when it was lost. */
  release(lease: NamedLease): Promise<void>;
  /** What is held at `now`, by name. */
  held(now: number): Promise<readonly HeldLease[]>;
}
