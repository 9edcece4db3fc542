import type { FetchPublic } from '../../web/public-fetch.ts';
import { createBoundedFetch } from '../bounds.ts';

type FetchFunction = typeof globalThis.fetch;

/** The largest response, in bytes; metadata and tokens are small. */
const MAX_BYTES = 500_000;
const TIMEOUT_MS = 15_000;

/**
 * A `fetch` for URLs that a server names. Requests to origins configured by the operator are sent
 * as usual. All other URLs must use https and lead to the public internet, and the request is sent
 * to exactly the IP address that was checked. Redirects are not followed, because they could carry
 * a code or token elsewhere.
 */
export function createGuardedFetch(
  serverUrl: string,
  trusted: readonly string[],
  fetchPublic: FetchPublic,
): FetchFunction {
  const origins = new Set([serverUrl, ...trusted].map((url) => new URL(url).origin));
  const isServerLocal = isLoopbackUrl(new URL(serverUrl));
  const plain = createBoundedFetch(globalThis.fetch, MAX_BYTES);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const signal = AbortSignal.any([
      AbortSignal.timeout(TIMEOUT_MS),
      ...(init?.signal ? [init.signal] : []),
    ]);
    const isOwn = origins.has(url.origin) || (isServerLocal && isLoopbackUrl(url));
    if (isOwn) return plain(url, { ...init, signal, redirect: 'error' });
    return await fetchPublic(url, { ...init, signal }, MAX_BYTES);
  };
}

/**
 * Whether a URL points to this machine. Only a server that runs on this machine may name such a
 * URL.
 */
function isLoopbackUrl({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** Throws an error unless a browser may be sent to this sign-in page. */
export function checkAuthorizationUrl(url: URL, serverUrl: string): void {
  const isLocal = isLoopbackUrl(url) && isLoopbackUrl(new URL(serverUrl));
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)) return;
  throw new Error(`its sign-in page ${url.origin} does not use https`);
}
