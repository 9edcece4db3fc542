import type { PageSession } from '@parley/store';
import type { Context } from 'hono';

/** A request with the connection it arrived on. */
export type ConnectedRequest = Pick<Context, 'req' | 'env'>;

/** Who sends a token, as far as that can be known. */
export interface TokenSender {
  /** Its address, and whether a proxy is in front of it. */
  readonly name: string;
  /**
   * Whether it is a program on this machine that connects without a proxy. The total of wrong
   * tokens does not slow it down.
   */
  readonly isLocal: boolean;
}

export function getTokenSender(c: ConnectedRequest): TokenSender {
  const network = getNetwork(c);
  const address = getPeerAddress(c);
  // A single household has 2^64 IPv6 addresses, so only its network counts.
  const household = address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
  return { name: `${network} ${household}`, isLocal: network === 'this-machine' };
}

/**
 * The network a request comes from. A proxied request comes from the proxy, whatever its headers
 * say.
 */
export function getNetwork(c: ConnectedRequest): PageSession['network'] {
  if (c.req.header('forwarded') ?? c.req.header('x-forwarded-for')) return 'proxy';
  const address = getPeerAddress(c);
  if (/^(127\.|::1$|$)/.test(address)) return 'this-machine';
  if (/^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|f[cd]|fe[89ab])/i.test(address)) {
    return 'local-network';
  }
  return 'internet';
}

/** Empty if there is none, as with a Unix socket. */
function getPeerAddress(c: ConnectedRequest): string {
  return (c.env?.incoming?.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}
