import { lookup } from 'node:dns/promises';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { ParleyError, reasonOf } from '@parley/core';
import type * as Ipaddr from 'ipaddr.js';

/**
 * `web-refused`: an address that is never asked. `web-unreachable`: no answer. `web-timeout`: the
 * time was up. `web-status`: the server said no. `web-redirects`: too many. `web-too-large`: too big.
 * `web-format`: nothing that can be read as text. `web-search`: a search engine gave no results.
 */
export type WebErrorCode =
  | 'web-refused'
  | 'web-unreachable'
  | 'web-timeout'
  | 'web-status'
  | 'web-redirects'
  | 'web-too-large'
  | 'web-format'
  | 'web-search';

const RETRYABLE: ReadonlySet<WebErrorCode> = new Set(['web-unreachable', 'web-timeout']);

/** Why there is no page or no result, as a text for the model and for people. */
export class WebError extends ParleyError {
  constructor(code: WebErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: RETRYABLE.has(code), cause });
  }
}

/** A web address that may be asked, if its name leads to a public address. */
interface CheckedUrl {
  readonly url: URL;
  /** Without brackets and without a dot at its end. */
  readonly host: string;
  /** True for an address in numbers, which is not looked up. */
  readonly isAddress: boolean;
}

/** Names that mean something only inside a network, by their last part or whole. */
const INSIDE =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|in-addr\.arpa|ip6\.arpa|onion|test|invalid)$/;

/**
 * Reads a web address. Throws WebError `web-refused` for all but http and https, ports that are not
 * allowed, names and passwords within the address, and names that only mean something inside a
 * network. Hosts in decimal, octal or hex are numbers like any other after `URL` has read them. Pure.
 */
export function checkUrl(text: string, ports: readonly number[], base?: URL): CheckedUrl {
  const url = URL.parse(text, base?.href);
  if (url === null)
    throw addressRefused(
      'This',
      'it is no web address. Write all of it, such as https://example.org/page',
    );
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw addressRefused(url.protocol, 'only http and https are read');
  }
  if (url.username !== '' || url.password !== '') {
    throw addressRefused(url.host, 'it has a name or a password in it');
  }
  const port = url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port);
  if (!ports.includes(port)) {
    throw addressRefused(
      url.host,
      `port ${port} is not among those allowed (web.fetch.ports: ${ports.join(', ')})`,
    );
  }
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/(?<!\.)\.+$/, '');
  const isAddress = isIP(host) !== 0;
  // A name without a dot is completed with the search domains of this network.
  if (!isAddress && (INSIDE.test(host) || !host.includes('.'))) {
    throw addressRefused(url.host, 'its name belongs to a private network');
  }
  url.hash = '';
  return { url, host, isAddress };
}

/** The refusal of one address. Only its host is shown: a server chooses the rest where it redirects. */
function addressRefused(what: string, why: string): WebError {
  return new WebError('web-refused', `${JSON.stringify(what.slice(0, 200))} is not read: ${why}.`);
}

/** The one address that a request goes to. */
export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The resolution of names and the addresses that may be asked. Tests bring their own. */
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
  const found = isAddress ? [host] : await lookUpAddresses(host, resolve);
  const [address] = found;
  if (address === undefined) throw new WebError('web-unreachable', `${host} has no address.`);
  if (!found.every(isAllowed)) {
    throw addressRefused(
      host,
      'it leads into a private network or to an address that is not public',
    );
  }
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}

async function lookUpAddresses(
  host: string,
  resolve: AddressRules['resolve'],
): Promise<readonly string[]> {
  try {
    return await resolve(host);
  } catch (cause) {
    throw new WebError('web-unreachable', `${host} cannot be found (${reasonOf(cause)}).`, cause);
  }
}

/** Loaded when first asked: most starts never read a page. */
const require = createRequire(import.meta.url);

/** All that is given out for general use lies in here, and nothing else does. */
const GLOBAL_IPV6 = '2000::/3';
/** Set aside for documentation later than the library knows of. */
const NEWER_DOCUMENTATION = '3fff::/20';

/**
 * Whether an address is one of the public internet. Closed: private, loopback, link-local, shared,
 * multicast, reserved, documentation and benchmark ranges are not, nor any IPv6 form that carries an
 * IPv4 address (mapped, compatible, 6to4, NAT64, Teredo), since it may lead anywhere.
 */
export function isPublicAddress(address: string): boolean {
  const ipaddr: typeof Ipaddr = require('ipaddr.js');
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  if (address.includes('%') || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv4') return true;
  return (
    parsed.match(ipaddr.parseCIDR(GLOBAL_IPV6)) &&
    !parsed.match(ipaddr.parseCIDR(NEWER_DOCUMENTATION))
  );
}
