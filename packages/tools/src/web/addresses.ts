import { lookup } from 'node:dns/promises';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { ParleyError, reasonOf } from '@parley/core';
import type * as Ipaddr from 'ipaddr.js';

/**
 * `web-refused`: the URL is never requested. `web-unreachable`: no response. `web-timeout`: the
 * deadline passed. `web-status`: an HTTP error status. `web-redirects`: too many redirects.
 * `web-too-large`: the response is too large. `web-format`: not readable as text. `web-search`: a
 * search engine returned no results.
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

/** Why there is no page or no result, worded for the model and for people. */
export class WebError extends ParleyError {
  constructor(code: WebErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: RETRYABLE.has(code), cause });
  }
}

/** A URL that may be requested if its host resolves to a public address. */
interface CheckedUrl {
  readonly url: URL;
  /** The host without brackets and trailing dot. */
  readonly host: string;
  /** Whether the host is an IP address, which is not looked up. */
  readonly isAddress: boolean;
}

/** Host names, or their last labels, that exist only inside a network. */
const INSIDE =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|in-addr\.arpa|ip6\.arpa|onion|test|invalid)$/;

/**
 * Parses a URL. Throws WebError `web-refused` for schemes other than http and https, ports that are
 * not allowed, user names and passwords in the URL, and host names that only exist inside a
 * network. `URL` normalizes hosts in decimal, octal or hex to IP addresses. Pure.
 */
export function checkUrl(text: string, ports: readonly number[], base?: URL): CheckedUrl {
  const url = URL.parse(text, base?.href);
  if (url === null)
    throw createRefusedError(
      'This',
      'it is not a URL. Give the complete URL, such as https://example.org/page',
    );
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw createRefusedError(url.protocol, 'only http and https URLs are read');
  }
  if (url.username !== '' || url.password !== '') {
    throw createRefusedError(url.host, 'it contains a user name or a password');
  }
  const port = url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port);
  if (!ports.includes(port)) {
    throw createRefusedError(
      url.host,
      `port ${port} is not among those allowed (web.fetch.ports: ${ports.join(', ')})`,
    );
  }
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/(?<!\.)\.+$/, '');
  const isAddress = isIP(host) !== 0;
  // The search domains of this network would complete a name without a dot.
  if (!isAddress && (INSIDE.test(host) || !host.includes('.'))) {
    throw createRefusedError(url.host, 'its name belongs to a private network');
  }
  url.hash = '';
  return { url, host, isAddress };
}

/**
 * Creates the error for a refused URL. The message contains only the host, because a redirecting
 * server chooses the rest of the URL.
 */
function createRefusedError(what: string, why: string): WebError {
  return new WebError('web-refused', `${JSON.stringify(what.slice(0, 200))} is not read: ${why}.`);
}

export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** How names are resolved and which addresses are allowed. */
export interface AddressRules {
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly isAllowed: (address: string) => boolean;
}

/** Resolves names as this machine does and allows only the public internet. */
export const PUBLIC_ONLY: AddressRules = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  isAllowed: isPublicAddress,
};

/**
 * Resolves a host once. The request must be sent to exactly this address, because the name could
 * resolve to another one a moment later. A host is refused as soon as one of its addresses is.
 */
export async function resolveHost(
  { host, isAddress }: CheckedUrl,
  { resolve, isAllowed }: AddressRules,
): Promise<HostAddress> {
  const found = isAddress ? [host] : await lookUpAddresses(host, resolve);
  const [address] = found;
  if (address === undefined) throw new WebError('web-unreachable', `${host} has no address.`);
  if (!found.every(isAllowed)) {
    throw createRefusedError(
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

/** Loaded on first use, because most runs never fetch a page. */
const require = createRequire(import.meta.url);

/** The range of all addresses that are assigned for general use. */
const GLOBAL_IPV6 = '2000::/3';
/** A documentation range newer than the library. */
const NEWER_DOCUMENTATION = '3fff::/20';

/**
 * Whether an address belongs to the public internet. Refuses private, loopback, link-local, shared,
 * multicast, reserved, documentation and benchmark ranges. Also refuses every IPv6 form that embeds
 * an IPv4 address (mapped, compatible, 6to4, NAT64, Teredo), because such an address may lead
 * anywhere.
 */
export function isPublicAddress(address: string): boolean {
  const ipaddr: typeof Ipaddr = require('ipaddr.js');
  // A zone (`fe80::1%eth0`) names an interface on this machine.
  if (address.includes('%') || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv4') return true;
  return (
    parsed.match(ipaddr.parseCIDR(GLOBAL_IPV6)) &&
    !parsed.match(ipaddr.parseCIDR(NEWER_DOCUMENTATION))
  );
}
