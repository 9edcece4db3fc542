import type { NamedLease, OutboxRepository, RunningProcess } from '@parley/store';

/** Identifies an account that a gateway wants to connect. */
export interface AccountName {
  readonly channel: string;
  readonly account: string;
}

/** The exclusive right to be connected as an account and to send for it. */
export interface AccountRight {
  /**
   * Aborted when the right is lost, shortly before another gateway can acquire it. Nothing may be
   * sent after that.
   */
  readonly lost: AbortSignal;
  /**
   * Returns whether the right is held according to the clock, because `lost` may be aborted late
   * after a stall.
   */
  isHeld(): boolean;
  /**
   * Aborted when another gateway should serve the account: the holder finishes the work in progress
   * and then releases the right.
   */
  readonly recalled: AbortSignal;
  /** The account's lease; null if no other gateway can acquire the account. */
  readonly lease: NamedLease | null;
  /** The outbox, restricted to the writes that this right allows. */
  readonly outbox: OutboxRepository;
  /** Whether another gateway may continue immediately with unsent message parts. */
  readonly isShared: boolean;
  /** Releases the right, so that another gateway does not have to wait for it to expire. */
  release(): Promise<void>;
}

/**
 * Decides which gateway is connected as which account. At any time, at most one gateway is
 * connected as an account (D09).
 */
export interface AccountRights {
  /**
   * Waits for the right, and reports its current holder through `standby`. Returns null if the
   * signal is aborted.
   */
  obtain(
    name: AccountName,
    standby: (holder: string) => void,
    signal: AbortSignal,
  ): Promise<AccountRight | null>;
  /** Returns the process that holds the right, if known. */
  holder(name: AccountName): Promise<RunningProcess | null>;
  /**
   * Called when this gateway shuts down. The gateway then stops acquiring accounts, and the
   * accounts that it releases are reserved for its successor.
   */
  leave(): void;
  /** Stops all renewals. Rights that are still held will expire. */
  close(): Promise<void>;
}

/**
 * Creates rights without leases, for a gateway that is alone on its database, and for accounts that
 * several gateways may serve at once.
 */
export function createUnsharedRights(outbox: OutboxRepository): AccountRights {
  const never = new AbortController().signal;
  return {
    obtain: async (_name, _standby, signal) =>
      signal.aborted
        ? null
        : {
            ...{ lost: never, recalled: never, lease: null, outbox, isShared: false },
            isHeld: () => true,
            release: async () => {},
          },
    holder: async () => null,
    leave: () => {},
    close: async () => {},
  };
}
