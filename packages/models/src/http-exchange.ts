import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';

/**
 * The timeout for connecting, including the TLS handshake, in ms; the same as in Node's `fetch`.
 */
const CONNECT_MS = 10_000;
/**
 * How long the unread remainder of a response may take to arrive, in ms; then its connection is
 * closed.
 */
const RELEASE_MS = 1_000;

/** The response of a server; header names are in lower case. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Yields the decompressed body. Throws if the connection breaks before the end or the signal is
   * aborted.
   */
  readonly body: AsyncIterator<Uint8Array, unknown>;
  /**
   * Discards the remainder but keeps the connection, unless the remainder takes too long to arrive.
   */
  release(): void;
  /** Closes the connection; has no effect after the end. */
  destroy(): void;
}

/** Sends one request to a model: a JSON body, by POST. */
export type SendModelRequest = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  signal: AbortSignal,
) => Promise<HttpResponse>;

/**
 * Uses node:http with Node's global agents: connections are kept alive, and go through a proxy if
 * `NODE_USE_ENV_PROXY` is set. Requests that node:http does not support (redirects, other
 * protocols) are sent with Node's `fetch`.
 */
export const httpExchange: SendModelRequest = async (url, headers, body, signal) => {
  const parsed = URL.parse(url);
  const overFetch = () => createRequestSender(globalThis.fetch)(url, headers, body, signal);
  if (parsed === null || !isPlainHttp(parsed)) return overFetch();
  signal.throwIfAborted();
  const answer = await postRequest(parsed, headers, body, signal);
  const { statusCode: status = 0 } = answer;
  if (status >= 300 && status < 400 && answer.headers.location !== undefined) {
    answer.destroy();
    return overFetch();
  }
  const decoder = createDecompressor(answer);
  return {
    status,
    headers: toPlainHeaders(answer),
    body:
      decoder === null
        ? answer.iterator({ destroyOnReturn: false })
        : decompressBody(answer, answer.pipe(decoder)),
    release: () => releaseResponse(answer),
    destroy: () => void answer.destroy(),
  };
};

/** Sends requests through any `fetch` implementation. */
export function createRequestSender(fetch: typeof globalThis.fetch): SendModelRequest {
  return async (url, headers, body, signal) => {
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
    const answer = await fetch(url, { method: 'POST', headers, body: text, signal });
    const reader = answer.body?.getReader();
    const leave = (): void => {
      // A stream that has already failed cannot be canceled; `read` has thrown its error.
      reader?.cancel().catch(() => undefined);
    };
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: { next: async () => (await reader?.read()) ?? { done: true, value: undefined } },
      release: leave,
      destroy: leave,
    };
  };
}

/**
 * Whether node:http can send the request: the protocol is HTTP or HTTPS, and the URL contains no
 * password.
 */
export function isPlainHttp({ protocol, username }: URL): boolean {
  return /^https?:$/.test(protocol) && username === '';
}

/** Sends a request and waits for the start of its response. */
export function postRequest(
  url: URL,
  headers: OutgoingHttpHeaders,
  body: Uint8Array,
  signal: AbortSignal | null,
): Promise<IncomingMessage> {
  // Static imports would load Node's `fetch`, which a process without a model never needs.
  const { request } =
    url.protocol === 'https:'
      ? process.getBuiltinModule('node:https')
      : process.getBuiltinModule('node:http');
  const call = request(url, {
    method: 'POST',
    headers: { accept: '*/*', 'accept-encoding': 'identity', ...headers },
  });
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const stop = () => (answer ?? call).destroy(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    call.once('close', () => signal?.removeEventListener('abort', stop));
    call.once('response', (response) => {
      answer = response;
      resolve(response);
    });
    // Node's `fetch` throws this error, which the AI SDK recognizes as a network error.
    call.on('error', (cause) => {
      reject(signal?.aborted ? signal.reason : new TypeError('fetch failed', { cause }));
    });
    setConnectTimeout(call, url);
    call.end(body);
  });
}

function setConnectTimeout(call: ClientRequest, { protocol, host }: URL): void {
  call.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => {
      const message = `no connection to ${host} within ${CONNECT_MS / 1_000} s`;
      call.destroy(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
    }, CONNECT_MS);
    const done = () => clearTimeout(timer);
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', done);
    call.once('close', done);
  });
}

/**
 * Decompresses a response; null if it is not compressed. Some servers compress responses although
 * they were asked not to.
 */
export function createDecompressor(answer: IncomingMessage): Transform | null {
  const encoding = answer.headers['content-encoding']?.toLowerCase().trim() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return null;
  const zlib = process.getBuiltinModule('node:zlib');
  if (encoding === 'br') return zlib.createBrotliDecompress();
  if (encoding === 'zstd') return zlib.createZstdDecompress();
  // If a server ends the response too early, the data received so far is used.
  return zlib.createUnzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
}

/** Data that arrived before a connection broke is still decompressed; then the error is thrown. */
async function* decompressBody(
  answer: IncomingMessage,
  decoder: Transform,
): AsyncGenerator<Uint8Array, void> {
  let broken: unknown;
  answer.once('error', (error) => {
    broken = error;
    decoder.end();
  });
  yield* decoder;
  if (broken !== undefined) throw broken;
}

function toPlainHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  );
}

function releaseResponse(answer: IncomingMessage): void {
  if (answer.destroyed || answer.readableEnded) return;
  // The response was complete, so a later failure is ignored.
  answer.on('error', () => undefined);
  const timer = setTimeout(() => answer.destroy(), RELEASE_MS).unref();
  answer.once('close', () => clearTimeout(timer));
  answer.resume();
}
