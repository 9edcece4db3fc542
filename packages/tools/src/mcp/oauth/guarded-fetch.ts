import type { FetchPublic } from '../../web/public-fetch.ts';
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
export function guardedFetch(
  serverUrl: string,
  trusted: readonly string[],
  fetchPublic: FetchPublic,
): Fetch {
  const origins = new Set([serverUrl, ...trusted].map((url) => new URL(url).origin));
  const isServerLocal = isLoopbackUrl(new URL(serverUrl));
  const plain = boundedFetch(globalThis.fetch, MAX_BYTES);
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

/** Whether the address is of this machine: only a server that is here itself may name such a one. */
function isLoopbackUrl({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** Whether a browser may be sent there. Throws where it may not. */
export function checkAuthorizationUrl(url: URL, serverUrl: string): void {
  const isLocal = isLoopbackUrl(url) && isLoopbackUrl(new URL(serverUrl));
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)) return;
  throw new Error(`its sign-in page ${url.origin} is not reached over https`);
}
