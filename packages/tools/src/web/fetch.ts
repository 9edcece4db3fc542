import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { reasonOf, rejectOnAbort } from '@parley/core';
import {
  type AddressRules,
  checkUrl,
  type HostAddress,
  PUBLIC_ONLY,
  resolveHost,
  WebError,
} from './addresses.ts';

export interface FetchLimits {
  /** The deadline for the whole fetch, in ms. */
  readonly timeoutMs: number;
  /** Unpacked. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
  readonly ports: readonly number[];
}

/** The default limits: 20 s, 5 MB, 5 redirects and the two standard ports. */
export const FETCH_LIMITS: FetchLimits = {
  timeoutMs: 20_000,
  maxBytes: 5_000_000,
  maxRedirects: 5,
  ports: [80, 443],
};

/** A resource from the web. */
export interface Resource {
  /** The URL after redirects. */
  readonly url: URL;
  readonly bytes: Buffer;
  /** The declared content type; empty if there is none. */
  readonly contentType: string;
}

/**
 * Fetches from the public internet (G06). Every hop is checked like the first one: its URL, its
 * host name, and the address the name resolves to. Throws WebError, or the abort reason of the
 * signal.
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
    return await followRedirects(address, limits, either, rules);
  } catch (error) {
    signal.throwIfAborted();
    if (!slow.aborted) throw error;
    const message = `The page did not load within ${limits.timeoutMs / 1_000} s.`;
    throw new WebError('web-timeout', message, error);
  }
}

async function followRedirects(
  address: string,
  limits: FetchLimits,
  signal: AbortSignal,
  rules: AddressRules,
): Promise<Resource> {
  let checked = checkUrl(address, limits.ports);
  for (let hop = 0; hop <= limits.maxRedirects; hop += 1) {
    const { url } = checked;
    // A lookup cannot be aborted, so a slow one is abandoned.
    const at = await rejectOnAbort(resolveHost(checked, rules), signal);
    const response = await requestOnce(url, at, signal);
    const { statusCode: status = 0, headers } = response;
    if (status < 300) {
      const bytes = await readPageBody(response, url, limits.maxBytes, signal);
      return { url, bytes, contentType: headers['content-type'] ?? '' };
    }
    response.destroy();
    if (status >= 400 || headers.location === undefined) throw createStatusError(url, status);
    checked = checkUrl(headers.location, limits.ports, url);
  }
  throw new WebError(
    'web-redirects',
    `${checked.url.host} redirects too often: more than ${limits.maxRedirects} redirects.`,
  );
}

function createStatusError({ host }: URL, status: number): WebError {
  const why =
    status === 404 || status === 410
      ? 'there is no such page'
      : status === 401 || status === 403
        ? 'the page is not public'
        : status === 429
          ? 'it receives too many requests; try again later'
          : status >= 500
            ? 'the server has an internal error; try again later'
            : 'that is not a page';
  return new WebError('web-status', `${host} answered with status ${status}: ${why}.`);
}

/** The request headers; plain text formats are preferred. */
const HEADERS = {
  'user-agent': 'Mozilla/5.0 (compatible; Parley)',
  accept:
    'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5',
  'accept-encoding': 'gzip, br, deflate',
};

/**
 * Sends a GET request to exactly this address, regardless of what the name resolves to now, and
 * returns the response once its headers have arrived. The request does not use cookies, a
 * persistent connection or a proxy.
 */
function requestOnce(url: URL, at: HostAddress, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Loaded here, because importing `node:http` at the top would load Node's whole `fetch` at every
  // start.
  const { Agent, request } =
    url.protocol === 'https:'
      ? process.getBuiltinModule('node:https')
      : process.getBuiltinModule('node:http');
  const sent = request(url, {
    headers: HEADERS,
    lookup: createPinnedLookup(at),
    // A separate agent, because the default one keeps connections and may use a proxy.
    agent: new Agent({ keepAlive: false }),
    signal,
  });
  sent.once('response', resolve);
  sent.on('error', (cause) => {
    signal.aborted ? reject(signal.reason) : reject(createUnreachableError(url, cause));
  });
  sent.end();
  return promise;
}

/** A lookup function that always returns this address. */
export function createPinnedLookup({ address, family }: HostAddress): LookupFunction {
  return (_host, options, found) => {
    if (options.all === true) found(null, [{ address, family }]);
    else found(null, address, family);
  };
}

function createUnreachableError(url: URL, cause: unknown): WebError {
  const message = `${url.host} cannot be reached (${reasonOf(cause) || 'the connection failed'}).`;
  return new WebError('web-unreachable', message, cause);
}

/**
 * Reads and decompresses a response, and stops once it exceeds `maxBytes`. The declared length is
 * not trusted, and a small file can decompress to a very large one.
 */
async function readPageBody(
  response: IncomingMessage,
  url: URL,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of decompressResponse(response)) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > maxBytes) throw createTooLargeError(url, maxBytes);
      chunks.push(bytes);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof WebError ? error : createUnreachableError(url, error);
  } finally {
    response.destroy();
  }
  return Buffer.concat(chunks);
}

function decompressResponse(response: IncomingMessage): AsyncIterable<Uint8Array> {
  const unpack = createDecompressor(response.headers['content-encoding']);
  // Errors surface in the last stream of the chain, which is the one being read.
  return unpack === null ? response : pipeline(response, unpack, () => {});
}

function createDecompressor(encoding: string | undefined): Transform | null {
  switch (encoding?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate':
      return createInflate();
    case undefined:
    case '':
    case 'identity':
      return null;
    default:
      throw new WebError(
        'web-format',
        `The page uses an unknown compression (${encoding?.slice(0, 40)}).`,
      );
  }
}

function createTooLargeError({ host }: URL, maxBytes: number): WebError {
  const megabytes = Number((maxBytes / 1_000_000).toFixed(1));
  return new WebError(
    'web-too-large',
    `The page from ${host} was not read, because it is larger than ${megabytes} MB.`,
  );
}
