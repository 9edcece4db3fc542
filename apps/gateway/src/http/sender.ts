import type { PageSession } from '@parley/store';
import type { Context } from 'hono';

/** A request, with the connection on which it came. */
export type Asker = Pick<Context, 'req' | 'env'>;

/** Who sends a token, as far as it can be known. */
export interface TokenSender {
  /** Address, and whether a proxy is in front of it. */
  readonly name: string;
  /** A program of this machine, without a proxy; the sum of all wrong tokens does not slow it down. */
  readonly isLocal: boolean;
}

export function senderOf(c: Asker): TokenSender {
  const network = networkOf(c);
  const address = addressOf(c);
  // One household has 2^64 addresses of IPv6.
  const household = address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
  return { name: `${network} ${household}`, isLocal: network === 'this-machine' };
}

/** Where a request comes from: what a proxy passes on comes from the proxy, whatever its headers say. */
export function networkOf(c: Asker): PageSession['network'] {
  if (c.req.header('forwarded') ?? c.req.header('x-forwarded-for')) return 'proxy';
  const address = addressOf(c);
  if (/^(127\.|::1$|$)/.test(address)) return 'this-machine';
  if (/^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|f[cd]|fe[89ab])/i.test(address)) {
    return 'local-network';
  }
  return 'internet';
}

/** Empty where there is none, as with a Unix socket. */
function addressOf(c: Asker): string {
  return (c.env?.incoming?.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}
