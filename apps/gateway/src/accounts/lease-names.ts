import type { LeaseRow, NamedLease } from '@parley/store';
import type { AccountName } from './account-rights.ts';

/**
 * Prefixes of lease names: one lease per account, and one per gateway for its seat among those that
 * share the accounts.
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

/** Whether gateways hold this lease, either for an account or for a seat. */
export function isGatewayLease(name: string): boolean {
  return isSeatName(name) || isAccountLeaseName(name);
}

export function formatSeatName(number: number): string {
  return `${SEAT}${number}`;
}

export function parseSeatNumber(seat: string): number {
  return Number(seat.slice(SEAT.length));
}

/** Whether no gateway holds the lease; it may still be reserved for one. */
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
