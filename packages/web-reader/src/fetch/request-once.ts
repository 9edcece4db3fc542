import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { reasonOf } from '@parley/contracts';
import { WebError } from '../web-error.ts';
import type { HostAddress } from './resolve-host.ts';

/** What is asked for: text in its plainest form first. */
const HEADERS = {
  'user-agent': 'Mozilla/5.0 (compatible; Parley)',
  accept:
    'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5',
  'accept-encoding': 'gzip, br, deflate',
};

/**
 * Sends one GET to this address and to no other, whatever the name leads to by now, and gives the
 * response when its headers are there. No cookies, no kept connections, no proxy.
 */
export function requestOnce(
  url: URL,
  at: HostAddress,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Loaded here: an import of `node:http` would load Node's whole `fetch` at every start.
  const { Agent, request } =
    url.protocol === 'https:'
      ? process.getBuiltinModule('node:https')
      : process.getBuiltinModule('node:http');
  const sent = request(url, {
    headers: HEADERS,
    lookup: pinned(at),
    // Of its own: the usual one keeps connections, and may go through a proxy.
    agent: new Agent({ keepAlive: false }),
    signal,
  });
  sent.once('response', resolve);
  sent.on('error', (cause) => {
    signal.aborted ? reject(signal.reason) : reject(unreachable(url, cause));
  });
  sent.end();
  return promise;
}

function pinned({ address, family }: HostAddress): LookupFunction {
  return (_host, options, found) => {
    if (options.all === true) found(null, [{ address, family }]);
    else found(null, address, family);
  };
}

/** The connection did not come to be, or broke. */
export function unreachable(url: URL, cause: unknown): WebError {
  const message = `${url.host} cannot be reached (${reasonOf(cause) || 'the connection failed'}).`;
  return new WebError('web-unreachable', message, cause);
}
