import { fieldsOf } from '../chat/wire.ts';

/** An account that waits until a phone scans its code. */
export interface UnlinkedAccount {
  /** `channel/account`. */
  readonly id: string;
  readonly channel: string;
  /** What the code says; compared to know when to fetch a new picture, never shown. */
  readonly code: string;
}

/** What the gateway's status says of accounts that wait for a phone. */
export interface Pairing {
  readonly unlinked: readonly UnlinkedAccount[];
  /** Something may change soon: it is worth asking again in a moment. */
  readonly isMoving: boolean;
}

/** Reads the answer of `/api/status`; what is not understood is left out. */
export function readPairing(answer: unknown): Pairing {
  const { channels } = fieldsOf(answer);
  const unlinked: UnlinkedAccount[] = [];
  let isMoving = false;
  for (const entry of Array.isArray(channels) ? channels : []) {
    const { channel, account, state } = fieldsOf(entry);
    const { kind, code } = fieldsOf(state);
    isMoving ||= kind === 'pairing' || kind === 'starting' || kind === 'retrying';
    if (kind !== 'pairing' || typeof code !== 'string') continue;
    if (typeof channel !== 'string' || typeof account !== 'string') continue;
    unlinked.push({ id: `${channel}/${account}`, channel, code });
  }
  return { unlinked, isMoving };
}
