import type { FetchLike, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '@parley/core';
import { type ClientOptions, connectionOf, type McpConnection, openClient } from './client.ts';
import { httpStatus, isNetworkFault, SESSION_ENDED, signInIn } from './errors.ts';
import { bearerFor } from './oauth/bearer.ts';
import type { SignInMeans } from './oauth/sign-in-state.ts';
import type { McpPeer } from './peer.ts';
import { createMessageReader } from './read-message.ts';
import { readableFetch } from './readable-fetch.ts';

type HttpPeer = Extract<McpPeer, { kind: 'http' }>;
interface HttpOptions extends Omit<ClientOptions, 'opening'> {
  readonly clock: Clock;
  /** When absent, people cannot sign in. */
  readonly signIn?: SignInMeans | undefined;
}

/**
 * The HTTP protocols, newest first: that of July 2026, `initialize`, and the two connections of
 * 2024.
 */
const WAYS = ['discover', 'initialize', 'sse'] as const;
type Way = (typeof WAYS)[number];

/**
 * Connects with the newest protocol that the server accepts; rejects with the error of
 * `initialize`.
 */
export async function overHttp(peer: HttpPeer, options: HttpOptions): Promise<McpConnection> {
  const failures = new Map<Way, unknown>();
  for (const way of WAYS) {
    try {
      return await openOneWay(peer, options, way);
    } catch (error) {
      failures.set(way, error);
      if (options.signal.aborted || isFinal(way, error)) break;
    }
  }
  throw failures.get('initialize') ?? failures.get('discover');
}

/** Whether the remaining protocols would fail as well. */
function isFinal(way: Way, error: unknown): boolean {
  const status = httpStatus(error);
  if (signInIn(error) !== undefined) return true;
  if (isNetworkFault(error) || status === 401 || status === 403) return true;
  return way === 'initialize' && status !== null && status >= 500;
}

async function openOneWay(peer: HttpPeer, options: HttpOptions, way: Way): Promise<McpConnection> {
  const lost = Promise.withResolvers<string>();
  let isSessionLost = false;
  const fetch = readableFetch(globalThis.fetch, {
    reader: createMessageReader(),
    onSessionLost: () => {
      isSessionLost = true;
      lost.resolve(SESSION_ENDED);
    },
  });
  const transport = await transportFor(peer, way, fetch, options);
  const opening = way === 'discover' ? 'discover' : 'initialize';
  try {
    const client = await openClient(transport, { ...options, opening });
    return connectionOf({
      client,
      ended: lost.promise,
      isSessionLost: () => isSessionLost,
      close: async () => {
        if ('terminateSession' in transport && !isSessionLost)
          await transport.terminateSession().catch(() => {});
        await client.close();
      },
    });
  } catch (error) {
    await transport.close().catch(() => {});
    throw error;
  }
}

type HttpTransport = Transport | (Transport & { terminateSession(): Promise<void> });

async function transportFor(
  { url, headers, oauth = {} }: HttpPeer,
  way: Way,
  fetch: FetchLike,
  { signIn, clock }: Pick<HttpOptions, 'signIn' | 'clock'>,
): Promise<HttpTransport> {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import(
    '@modelcontextprotocol/client'
  );
  const hasKey = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  const given = {
    requestInit: { headers: { ...headers } },
    fetch,
    ...(signIn !== undefined &&
      !hasKey && { authProvider: bearerFor({ url, oauth, clock, ...signIn }) }),
  };
  const address = new URL(url);
  return way === 'sse'
    ? new SSEClientTransport(address, given)
    : new StreamableHTTPClientTransport(address, given);
}
