import type { LeaseRow, NamedLease, RunningProcess } from '@parley/store';
import { isAccountLeaseName, isFreeLease, isSeatName } from './lease-names.ts';
import type { GatewaySeat, ObservedAccount } from './share-accounts.ts';

/** The gateway that reads the leases. */
interface LeaseReader {
  /** The id of the gateway's process. */
  readonly self: string;
  /** The gateway's seat; null if it has none. */
  readonly seat: NamedLease | null;
  /** The running processes, keyed by id. */
  readonly processes: ReadonlyMap<string, RunningProcess>;
}

/** Lists the seats of running gateways, and the seats that are reserved for a successor. */
export function listSeats(
  rows: readonly LeaseRow[],
  { self, seat, processes }: LeaseReader,
): readonly GatewaySeat[] {
  const isCurrent = ({ name, leftMs }: LeaseRow): boolean =>
    isSeatName(name) && name !== seat?.name && (leftMs ?? 0) > 0;
  const owners = rows.filter(isCurrent).map(({ owner }) => owner);
  const living = new Set(owners.filter((owner) => owner !== null));
  if (seat === null) living.delete(self);
  else living.add(self);
  const startOf = (id: string): number => processes.get(id)?.startedAt ?? Infinity;
  return [
    ...[...living].map((gateway) => ({ gateway, startedAt: startOf(gateway) })),
    ...owners
      .filter((owner) => owner === null)
      .map((gateway) => ({ gateway, startedAt: Infinity })),
  ];
}

/** What is known about accounts apart from the lease rows. */
interface AccountRowsContext {
  /** The names of the leases for which this gateway is waiting. */
  readonly waiting: Iterable<string>;
  /**
   * The times (monotonic ms) at which accounts became free to all gateways, as returned by the last
   * call.
   */
  readonly freeSince: ReadonlyMap<string, number>;
  readonly now: number;
}

/** Lists all accounts that are served, and the free accounts that this gateway could serve. */
export function listAccounts(
  rows: readonly LeaseRow[],
  { waiting, freeSince, now }: AccountRowsContext,
): {
  readonly accounts: readonly ObservedAccount[];
  readonly freeSince: ReadonlyMap<string, number>;
} {
  const since = new Map<string, number>();
  const known = new Map(rows.map((row) => [row.name, row]));
  const held = rows.filter((row) => isAccountLeaseName(row.name) && !isFreeLease(row));
  const names = new Set([...held.map(({ name }) => name), ...waiting]);
  const accounts = [...names].map((name) => {
    const row = known.get(name);
    const epoch = row?.epoch ?? 0;
    if (row !== undefined && !isFreeLease(row)) {
      return { name, holder: row.owner, epoch, freeForMs: 0 };
    }
    const isReserved = (row?.leftMs ?? 0) > 0;
    if (!isReserved) since.set(name, freeSince.get(name) ?? now);
    return { name, holder: null, epoch, freeForMs: now - (since.get(name) ?? now) };
  });
  return { accounts, freeSince: since };
}
