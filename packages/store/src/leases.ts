/** The right to do one thing that only one process may do at a time. */
export interface NamedLease {
  /** For example `account:telegram/default`. */
  readonly name: string;
  /** Fencing token: grows with every acquisition. */
  readonly epoch: number;
}

/** A row of the table: a lease that is held, or was. */
export interface LeaseRow {
  readonly name: string;
  readonly epoch: number;
  /** Null once it was released. */
  readonly owner: string | null;
  /** When it ends (ms since 1970); without an owner: until when it is reserved for a successor. */
  readonly until: number | null;
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
   * Takes the lease if it is free or has run out; a reservation is for the caller to respect. `busy` tells who holds it, also when that is the
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
  /** Prolongs leases of one owner, those that were lost excepted, and returns the whole table as it is then. */
  renewAll(owner: string, names: readonly string[], until: number): Promise<readonly LeaseRow[]>;
  /** Gives it back, to a successor alone before `reservedUntil`; harmless when it was lost. */
  release(lease: NamedLease, reservedUntil?: number): Promise<void>;
  /** What is held at `now`, by name. */
  held(now: number): Promise<readonly HeldLease[]>;
}
