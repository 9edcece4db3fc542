import { randomUUID } from 'node:crypto';
import http, {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream/promises';
import { urlToHttpOptions } from 'node:url';
import { parseJson } from '@parley/channels';
import { z } from 'zod';
import { ApiError, UnsentError } from './failures.ts';
import { toLenientField } from './lenient.ts';
import type { TelegramSettings } from './settings.ts';

/** Time limits of one call, and callbacks for its progress. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /** The deadline of the whole call, in ms. */
  readonly limitMs?: number | undefined;
  /** The longest time its connection may be idle, in ms. */
  readonly silentMs?: number | undefined;
  /** Called before anything is written. */
  readonly onStart?: (() => void) | undefined;
  /** Called once the whole request has been written. */
  readonly onSent?: (() => void) | undefined;
}

/**
 * Makes one call and returns its result without validating it. Rejects with an `ApiError` when
 * Telegram or an intermediate server refuses it, with `UnsentError` when no byte of it was sent, and
 * otherwise with the connection error. No error contains the URL, because it includes the token.
 */
export type MakeCall = (method: string, payload: object, options: CallOptions) => Promise<unknown>;

/** The time limit of a quick call, in ms. */
export const QUICK_MS = 15_000;

/**
 * Makes calls through Node's own agent, which keeps connections alive, supports the proxy, and
 * drops idle connections before a server closes them during a send. `onAnswer` receives the headers
 * of each response.
 */
export function createCaller(
  { apiRoot, token }: Pick<TelegramSettings, 'apiRoot' | 'token'>,
  onAnswer: (headers: IncomingHttpHeaders) => void = () => {},
): MakeCall {
  const { request } = apiRoot.startsWith('https:') ? https : http;
  // Without a trailing slash, the URL would lose the last segment of its path.
  const root = apiRoot.endsWith('/') ? apiRoot : `${apiRoot}/`;
  const place = urlToHttpOptions(new URL(`./bot${token}/`, root));
  return async (method, payload, { signal, limitMs, onSent, ...watch }) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const boundary = Object.values(payload).some(isFile) ? randomUUID() : undefined;
    const type = boundary ? `multipart/form-data; boundary=${boundary}` : 'application/json';
    const headers = { 'content-type': type };
    const call = request({ ...place, path: `${place.path}${method}`, method: 'POST', headers });
    const end = (): void => reject(new DOMException('The call was aborted.', 'AbortError'));
    const timer = limitMs === undefined ? undefined : setTimeout(end, limitMs);
    signal.addEventListener('abort', end);
    call.on('error', reject);
    call.on('response', (response) => {
      onAnswer(response.headers);
      readCallResult(response).then(resolve, reject);
    });
    if (onSent) call.on('finish', onSent);
    const watched = watchConnection(call, watch);
    if (signal.aborted) end();
    else if (boundary) pipeline(encodeForm(payload, boundary), call).catch(reject);
    else call.end(JSON.stringify(payload));
    try {
      return await promise;
    } catch (thrown) {
      // Destroying the request also ends an upload that was refused before it was complete.
      call.destroy();
      throw watched.isReady ? thrown : new UnsentError(thrown);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      watched.end();
    }
  };
}

/**
 * Records when a connection is ready for a call: immediately if it was kept or goes through a
 * tunnel, otherwise once it is established, with TLS after the handshake. A failure before that
 * moment means that nothing was sent (D04).
 */
function watchConnection(
  call: ClientRequest,
  { onStart, silentMs }: Pick<CallOptions, 'onStart' | 'silentMs'>,
): { readonly isReady: boolean; end(): void } {
  const state = { isReady: false, end: () => {} };
  const ready = (): void => {
    state.isReady = true;
  };
  call.once('socket', (socket) => {
    if (silentMs !== undefined) {
      // The agent resets the socket's timeout when it keeps the connection for the next call.
      const silent = (): void => {
        // After the process was suspended, timers fire before data that has already arrived is
        // read.
        const { bytesRead } = socket;
        setImmediate(() => {
          if (socket.bytesRead > bytesRead) return;
          socket.destroy(new Error('no byte moved on the connection in time'));
        });
      };
      socket.setTimeout(silentMs, silent);
      state.end = () => socket.off('timeout', silent);
    }
    if (!socket.connecting) {
      onStart?.();
      ready();
      return;
    }
    if (onStart) socket.once('connect', onStart);
    socket.once(call.protocol === 'https:' ? 'secureConnect' : 'connect', ready);
  });
  return state;
}

/**
 * Encodes the fields as a form. Telegraf's own form loses objects beside a file and does not escape
 * file names, and the form of `fetch` crashes the process when a file cannot be read to its end.
 */
async function* encodeForm(payload: object, boundary: string): AsyncGenerator<string | Uint8Array> {
  for (const [name, value] of Object.entries(payload)) {
    if (value === undefined) continue;
    const filename = isFile(value) ? `; filename="${sanitizeHeaderValue(value.name)}"` : '';
    yield `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${filename}\r\n\r\n`;
    if (isFile(value)) yield* value.stream();
    else yield typeof value === 'object' ? JSON.stringify(value) : String(value);
    yield '\r\n';
  }
  yield `--${boundary}--\r\n`;
}

function isFile(value: unknown): value is File {
  return value instanceof File;
}

/** Servers interpret an escaped quote or line break differently, so neither is sent. */
function sanitizeHeaderValue(name: string): string {
  return name.replace(/["\\\p{Cc}\u2028\u2029/]/gu, '_');
}

const Answer = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({
    ok: z.literal(false),
    error_code: z.int(),
    description: z.string().catch(''),
    parameters: toLenientField(
      z.object({
        retry_after: toLenientField(z.number().nonnegative()),
        migrate_to_chat_id: toLenientField(z.int()),
      }),
    ),
  }),
]);

/**
 * An intermediate server may answer with one of these statuses in HTML, without having forwarded
 * the request.
 */
const OF_SERVER: ReadonlySet<number> = new Set([413, 429]);

/**
 * Reads the result of a call. Throws `ApiError` when Telegram or an intermediate server refuses it.
 */
async function readCallResult(response: IncomingMessage): Promise<unknown> {
  const { statusCode: status = 0, statusMessage: description = '' } = response;
  const body = await readResponseText(response);
  if (status >= 500) throw new ApiError({ error_code: status, description });
  const answer = Answer.safeParse(parseJson(body));
  if (!answer.success && OF_SERVER.has(status))
    throw new ApiError({ error_code: status, description });
  if (!answer.success) throw new Error(`HTTP ${status} without a Bot API response`);
  if (answer.data.ok) return answer.data.result;
  throw new ApiError(answer.data);
}

/**
 * The maximum response size, in bytes. A hundred updates with the longest messages take half of
 * this size.
 */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Uses listeners because `for await` over a response takes a third of the total time of a call. */
function readResponseText(response: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) response.destroy(new Error('the response is larger than 64 MB'));
    else chunks.push(chunk);
  });
  response.on('end', () => resolve(Buffer.concat(chunks).toString()));
  response.on('error', reject);
  return promise;
}
