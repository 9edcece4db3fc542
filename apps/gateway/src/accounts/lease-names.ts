import type { LeaseRow, NamedLease } from '@parley/store';
import type { AccountName } from './account-rights.ts';

/** A lease for each account, and one for each gateway: its place among those that share the accounts. */
const ACCOUNT = 'account:';
const SEAT = 'gateway:';

export function leaseNameOf({ channel, account }: AccountName): string {
  return `${ACCOUNT}${channel}/${account}`;
}

export function isSeat(name: string): boolean {
  return name.startsWith(SEAT);
}

export function isOfAccount(name: string): boolean {
  return name.startsWith(ACCOUNT);
}

/** Whether gateways hold this lease: for an account, or for a place of their own. */
export function isGatewayLease(name: string): boolean {
  return isSeat(name) || isOfAccount(name);
}

export function seatName(number: number): string {
  return `${SEAT}${number}`;
}

export function seatNumber(seat: string): number {
  return Number(seat.slice(SEAT.length));
}

/** No gateway holds it; one may have reserved it. */
export function isFreeLease({ owner, leftMs }: LeaseRow): boolean {
  return owner === null || leftMs === null || leftMs <= 0;
}

export function isOwn(
  rows: readonly LeaseRow[],
  { name, epoch }: NamedLease,
  owner: string,
): boolean {
  return rows.some((row) => row.name === name && row.epoch === epoch && row.owner === owner);
}
