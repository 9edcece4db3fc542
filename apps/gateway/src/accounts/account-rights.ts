import type { NamedLease, OutboxRepository, RunningProcess } from '@parley/store';

/** Identifies the account as which a gateway wants to connect. */
export interface AccountName {
  readonly channel: string;
  readonly account: string;
}

/** The exclusive right to be connected as an account and to send for it. */
export interface AccountRight {
  /**
   * Fires when the right is lost, shortly before another gateway can acquire it. Nothing may be
   * sent afterwards.
   */
  readonly lost: AbortSignal;
  /**
   * Whether the right is held at this moment, judged by the clock: after a stall, `lost` fires
   * late.
   */
  isHeld(): boolean;
  /**
   * Fires when another gateway should serve the account: finish the work in progress, then release
   * the right.
   */
  readonly recalled: AbortSignal;
  /** Null where no other gateway can acquire the account. */
  readonly lease: NamedLease | null;
  /** The outbox, restricted to the writes that this right allows. */
  readonly outbox: OutboxRepository;
  /** Whether another gateway may immediately continue with unsent parts. */
  readonly isShared: boolean;
  /** Releases the right, so that another gateway need not wait for it to expire. */
  release(): Promise<void>;
}

/** Decides which gateway is connected as which account. Only one is at any time (D09). */
export interface AccountRights {
  /**
   * Waits for the right and reports its current holder through `standby`. Returns null once the
   * signal fires.
   */
  obtain(
    name: AccountName,
    standby: (holder: string) => void,
    signal: AbortSignal,
  ): Promise<AccountRight | null>;
  /** The process that currently holds the right, if known. */
  holder(name: AccountName): Promise<RunningProcess | null>;
  /**
   * Called when this gateway shuts down: it acquires no more accounts, and those it releases are
   * reserved for its successor.
   */
  leave(): void;
  /** Stops all renewals. Rights that were not released by then expire. */
  close(): Promise<void>;
}

/**
 * A gateway that has its database to itself, or an account that any number of gateways may serve,
 * needs no lease.
 */
export function createEveryRight(outbox: OutboxRepository): AccountRights {
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
