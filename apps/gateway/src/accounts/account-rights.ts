import type { NamedLease, OutboxRepository, RunningProcess } from '@parley/store';

/** The account that a gateway asks for. */
export interface AccountName {
  readonly channel: string;
  readonly account: string;
}

/** The right to be connected as an account and to send for it. */
export interface AccountRight {
  /** Fires when it is lost, a little before another gateway can have it: nothing may be sent any more. */
  readonly lost: AbortSignal;
  /** Whether it is held at this moment, by the clock: after a stall `lost` fires late. */
  isHeld(): boolean;
  /** Fires when another gateway is to serve it: the account is left in good order, then released. */
  readonly recalled: AbortSignal;
  /** Null where no other gateway can have the account. */
  readonly lease: NamedLease | null;
  /** The outbox, limited to the writes that this right allows. */
  readonly outbox: OutboxRepository;
  /** Whether another gateway may go on at once with what is not sent yet. */
  readonly isShared: boolean;
  /** Releases it, so that another gateway need not wait for its end. */
  release(): Promise<void>;
}

/** Decides which gateway is connected as which account: one at a time (D09). */
export interface AccountRights {
  /** Waits for the right; `standby` hears who has it meanwhile. Null once the signal fires. */
  obtain(
    name: AccountName,
    standby: (holder: string) => void,
    signal: AbortSignal,
  ): Promise<AccountRight | null>;
  /** The process that has the right now, as far as it is known. */
  holder(name: AccountName): Promise<RunningProcess | null>;
  /** This gateway ends: it takes no more accounts, and what it releases is kept for its successor. */
  leave(): void;
  /** Ends everything; rights that are not released by then run out. */
  close(): Promise<void>;
}

/** A gateway that has its database to itself, or an account that any number may serve, needs no leave. */
export function everyRight(outbox: OutboxRepository): AccountRights {
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
