import type { FetchLike, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '@parley/core';
import { type ClientOptions, createConnection, type McpConnection, openClient } from './client.ts';
import { findSignInRequired, getHttpStatus, isNetworkFault, SESSION_ENDED } from './errors.ts';
import { createBearerAuthProvider } from './oauth/bearer.ts';
import type { SignInServices } from './oauth/sign-in-state.ts';
import type { McpPeer } from './peer.ts';
import { createMessageReader } from './read-message.ts';
import { createReadableFetch } from './readable-fetch.ts';

type HttpPeer = Extract<McpPeer, { kind: 'http' }>;
interface HttpOptions extends Omit<ClientOptions, 'opening'> {
  readonly clock: Clock;
  /** If it is absent, people cannot sign in. */
  readonly signIn?: SignInServices | undefined;
}

/**
 * The HTTP protocols, newest first: that of July 2026, `initialize`, and the two connections of
 * 2024.
 */
const WAYS = ['discover', 'initialize', 'sse'] as const;
type ProtocolVariant = (typeof WAYS)[number];

/**
 * Connects with the newest protocol that the server accepts; rejects with the error of
 * `initialize`.
 */
export async function connectOverHttp(
  peer: HttpPeer,
  options: HttpOptions,
): Promise<McpConnection> {
  const failures = new Map<ProtocolVariant, unknown>();
  for (const way of WAYS) {
    try {
      return await openWithProtocol(peer, options, way);
    } catch (error) {
      failures.set(way, error);
      if (options.signal.aborted || isFinalFailure(way, error)) break;
    }
  }
  throw failures.get('initialize') ?? failures.get('discover');
}

/** Whether the remaining protocol versions would fail as well. */
function isFinalFailure(way: ProtocolVariant, error: unknown): boolean {
  const status = getHttpStatus(error);
  if (findSignInRequired(error) !== undefined) return true;
  if (isNetworkFault(error) || status === 401 || status === 403) return true;
  return way === 'initialize' && status !== null && status >= 500;
}

async function openWithProtocol(
  peer: HttpPeer,
  options: HttpOptions,
  way: ProtocolVariant,
): Promise<McpConnection> {
  const lost = Promise.withResolvers<string>();
  let isSessionLost = false;
  const fetch = createReadableFetch(globalThis.fetch, {
    reader: createMessageReader(),
    onSessionLost: () => {
      isSessionLost = true;
      lost.resolve(SESSION_ENDED);
    },
  });
  const transport = await createTransport(peer, way, fetch, options);
  const opening = way === 'discover' ? 'discover' : 'initialize';
  try {
    const client = await openClient(transport, { ...options, opening });
    return createConnection({
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

async function createTransport(
  { url, headers, oauth = {} }: HttpPeer,
  way: ProtocolVariant,
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
      !hasKey && { authProvider: createBearerAuthProvider({ url, oauth, clock, ...signIn }) }),
  };
  const address = new URL(url);
  return way === 'sse'
    ? new SSEClientTransport(address, given)
    : new StreamableHTTPClientTransport(address, given);
}
