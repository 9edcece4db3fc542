import { createRequire } from 'node:module';
import type * as Ipaddr from 'ipaddr.js';

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
