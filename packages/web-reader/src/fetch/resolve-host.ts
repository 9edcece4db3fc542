import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { reasonOf } from '@parley/contracts';
import { WebError } from '../web-error.ts';
import { type CheckedUrl, refused } from './check-url.ts';
import { isPublicAddress } from './public-address.ts';

/** The one address that a request goes to. */
export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** How names become addresses, and which of these may be asked. Tests bring their own. */
export interface AddressRules {
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly isAllowed: (address: string) => boolean;
}

/** The names as this machine resolves them, and nothing but the public internet. */
export const PUBLIC_ONLY: AddressRules = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  isAllowed: isPublicAddress,
};

/**
 * Looks a host up once; the request must then go to this address and to no other, so that a name
 * cannot lead elsewhere a moment later. A name is refused as soon as one of its addresses is.
 */
export async function resolveHost(
  { host, isAddress }: CheckedUrl,
  { resolve, isAllowed }: AddressRules,
): Promise<HostAddress> {
  const found = isAddress ? [host] : await namesOf(host, resolve);
  const [address] = found;
  if (address === undefined) throw new WebError('web-unreachable', `${host} has no address.`);
  if (!found.every(isAllowed)) {
    throw refused(host, 'it leads into a private network or to an address that is not public');
  }
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}

async function namesOf(host: string, resolve: AddressRules['resolve']): Promise<readonly string[]> {
  try {
    return await resolve(host);
  } catch (cause) {
    throw new WebError('web-unreachable', `${host} cannot be found (${reasonOf(cause)}).`, cause);
  }
}
