import { WebError } from '../web-error.ts';
import { checkUrl } from './check-url.ts';
import { readBody } from './read-body.ts';
import { requestOnce } from './request-once.ts';
import { type AddressRules, PUBLIC_ONLY, resolveHost } from './resolve-host.ts';

/** Bounds of one fetch. */
export interface FetchLimits {
  /** Of everything together, in ms. */
  readonly timeoutMs: number;
  /** Unpacked. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
  readonly ports: readonly number[];
}

/** 20 s, 5 MB, 5 redirects, the two usual ports. */
export const FETCH_LIMITS: FetchLimits = {
  timeoutMs: 20_000,
  maxBytes: 5_000_000,
  maxRedirects: 5,
  ports: [80, 443],
};

/** What came from the web. */
export interface Resource {
  /** Where it was in the end. */
  readonly url: URL;
  readonly bytes: Buffer;
  /** As the server says; empty when it says nothing. */
  readonly contentType: string;
}

/**
 * Fetches from the public internet (G06). Every hop is checked as the first was: its form, its name,
 * and the address that the name leads to. Throws WebError, or what `signal` fired with.
 */
export async function fetchResource(
  address: string,
  limits: FetchLimits,
  signal: AbortSignal,
  rules: AddressRules = PUBLIC_ONLY,
): Promise<Resource> {
  const slow = AbortSignal.timeout(limits.timeoutMs);
  const either = AbortSignal.any([signal, slow]);
  try {
    return await follow(address, limits, either, rules);
  } catch (error) {
    signal.throwIfAborted();
    if (!slow.aborted) throw error;
    const message = `The page did not come within ${limits.timeoutMs / 1_000} s.`;
    throw new WebError('web-slow', message, error);
  }
}

async function follow(
  address: string,
  limits: FetchLimits,
  signal: AbortSignal,
  rules: AddressRules,
): Promise<Resource> {
  let checked = checkUrl(address, limits.ports);
  for (let hop = 0; hop <= limits.maxRedirects; hop += 1) {
    const { url } = checked;
    const at = await raced(resolveHost(checked, rules), signal);
    const response = await requestOnce(url, at, signal);
    const { statusCode: status = 0, headers } = response;
    if (status < 300) {
      const bytes = await readBody(response, url, limits.maxBytes, signal);
      return { url, bytes, contentType: headers['content-type'] ?? '' };
    }
    response.destroy();
    if (status >= 400 || headers.location === undefined) throw saidNo(url, status);
    checked = checkUrl(headers.location, limits.ports, url);
  }
  throw new WebError(
    'web-redirects',
    `${checked.url.host} leads on and on: more than ${limits.maxRedirects} redirects.`,
  );
}

/** A lookup knows no signal; a slow one is left behind. */
function raced<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', stop));
}

function saidNo({ host }: URL, status: number): WebError {
  const why =
    status === 404 || status === 410
      ? 'there is no such page'
      : status === 401 || status === 403
        ? 'the page is not open to everybody'
        : status === 429
          ? 'it is asked too often; try later'
          : status >= 500
            ? 'the server has a problem; try later'
            : 'that is no page';
  return new WebError('web-status', `${host} answered with status ${status}: ${why}.`);
}
