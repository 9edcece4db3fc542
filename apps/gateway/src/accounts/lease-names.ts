import type { LeaseRow, NamedLease } from '@parley/store';
import type { AccountName } from './account-rights.ts';

/**
 * Prefixes of the lease names. Each account has a lease, and each gateway has a lease for its seat
 * among the gateways that share the accounts.
 */
const ACCOUNT = 'account:';
const SEAT = 'gateway:';

export function toLeaseName({ channel, account }: AccountName): string {
  return `${ACCOUNT}${channel}/${account}`;
}

export function isSeatName(name: string): boolean {
  return name.startsWith(SEAT);
}

export function isAccountLeaseName(name: string): boolean {
  return name.startsWith(ACCOUNT);
}

/** Returns whether gateways hold this lease, for an account or for a seat. */
export function isGatewayLease(name: string): boolean {
  return isSeatName(name) || isAccountLeaseName(name);
}

export function formatSeatName(number: number): string {
  return `${SEAT}${number}`;
}

export function parseSeatNumber(seat: string): number {
  return Number(seat.slice(SEAT.length));
}

/** Returns whether no gateway holds the lease. A free lease may be reserved for one gateway. */
export function isFreeLease({ owner, leftMs }: LeaseRow): boolean {
  return owner === null || leftMs === null || leftMs <= 0;
}

export function isOwnLease(
  rows: readonly LeaseRow[],
  { name, epoch }: NamedLease,
  owner: string,
): boolean {
  return rows.some((row) => row.name === name && row.epoch === epoch && row.owner === owner);
}
