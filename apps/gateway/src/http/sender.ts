import type { PageSession } from '@parley/store';
import type { Context } from 'hono';

/** A request with the connection on which it arrived. */
export type ConnectedRequest = Pick<Context, 'req' | 'env'>;

/** The sender of a token, as far as the sender can be identified. */
export interface TokenSender {
  /** The sender's address, and whether the request came through a proxy. */
  readonly name: string;
  /**
   * Whether the sender is a program on this machine that connects without a proxy. The total number
   * of wrong tokens does not delay programs on this machine.
   */
  readonly isLocal: boolean;
}

export function getTokenSender(c: ConnectedRequest): TokenSender {
  const network = getNetwork(c);
  const address = getPeerAddress(c);
  // A single household has 2^64 IPv6 addresses, so its addresses are counted as one network.
  const household = address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
  return { name: `${network} ${household}`, isLocal: network === 'this-machine' };
}

/**
 * Returns the network from which a request comes. A proxied request counts as coming from the
 * proxy, because its headers can be forged.
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

/** Returns an empty string if there is no address, as for a Unix socket. */
function getPeerAddress(c: ConnectedRequest): string {
  return (c.env?.incoming?.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}
