import type { LookupFunction } from 'node:net';
import { checkUrl, type HostAddress, PUBLIC_ONLY, resolveHost } from '../../web/addresses.ts';
import { boundedFetch } from '../bounds.ts';

type Fetch = typeof globalThis.fetch;

/** Metadata and tokens are small. In bytes. */
const MAX_BYTES = 500_000;
const TIMEOUT_MS = 15_000;

/**
 * A `fetch` for addresses that a server names. Where the operator has pointed to, it goes as it is; all else must be
 * https and lead to the public internet, and the request goes to the address that was looked at. No redirect is
 * followed: a code or a token must not be carried elsewhere.
 */
export function guardedFetch(serverUrl: string, trusted: readonly string[]): Fetch {
  const origins = new Set([serverUrl, ...trusted].map((url) => new URL(url).origin));
  const isServerLocal = isLoopback(new URL(serverUrl));
  const plain = boundedFetch(globalThis.fetch, MAX_BYTES);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const signal = AbortSignal.any([
      AbortSignal.timeout(TIMEOUT_MS),
      ...(init?.signal ? [init.signal] : []),
    ]);
    const isOwn = origins.has(url.origin) || (isServerLocal && isLoopback(url));
    if (isOwn) return plain(url, { ...init, signal, redirect: 'error' });
    return await pinnedFetch(url, init, signal);
  };
}

/** Whether the address is of this machine: only a server that is here itself may name such a one. */
export function isLoopback({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** Whether a browser may be sent there. Throws where it may not. */
export function checkAuthorizationUrl(url: URL, serverUrl: string): void {
  const isLocal = isLoopback(url) && isLoopback(new URL(serverUrl));
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)) return;
  throw new Error(`its sign-in page ${url.origin} is not reached over https`);
}

async function pinnedFetch(
  url: URL,
  init: RequestInit | undefined,
  signal: AbortSignal,
): Promise<Response> {
  if (url.protocol !== 'https:') throw new Error(`${url.host} is not reached over https`);
  const port = url.port === '' ? 443 : Number(url.port);
  const at = await resolveHost(checkUrl(url.href, [port]), PUBLIC_ONLY);
  const { Agent, request } = process.getBuiltinModule('node:https');
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const sent = request(url, {
    method: init?.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init?.headers)),
    lookup: pinned(at),
    agent: new Agent({ keepAlive: false }),
    signal,
  });
  sent.on('error', reject);
  sent.once('response', async (response) => {
    const { statusCode: status = 502, headers } = response;
    if (status >= 300 && status < 400) {
      response.destroy();
      return reject(new Error(`${url.host} leads to another address, which is not followed`));
    }
    try {
      const type = headers['content-type'] ?? '';
      resolve(new Response(await readAll(response), { status, headers: { 'content-type': type } }));
    } catch (error) {
      reject(error);
    }
  });
  const body = init?.body;
  sent.end(body === undefined || body === null ? undefined : String(body));
  return promise;
}

async function readAll(response: AsyncIterable<Buffer> & { destroy(): void }): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > MAX_BYTES) {
      response.destroy();
      throw new Error(`it sent more than ${MAX_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function pinned({ address, family }: HostAddress): LookupFunction {
  return (_host, options, found) => {
    if (options.all === true) found(null, [{ address, family }]);
    else found(null, address, family);
  };
}
