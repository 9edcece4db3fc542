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
import { ApiError, Unsent } from './failures.ts';
import { lenient } from './lenient.ts';
import type { TelegramSettings } from './settings.ts';

/** The ends of one call, and the notices to its caller meanwhile. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /** The deadline of the whole call, in ms. */
  readonly limitMs?: number | undefined;
  /** The longest silence of its connection, in ms. */
  readonly silentMs?: number | undefined;
  /** Called before anything is written. */
  readonly onStart?: (() => void) | undefined;
  /** Called once the whole request has left. */
  readonly onSent?: (() => void) | undefined;
}

/**
 * Makes one call and returns its result, unchecked. Rejects with an `ApiError` when Telegram refuses or a server in
 * between answers, with `Unsent` when no byte of it left, and else with what the connection threw; none of them
 * names the address, which holds the token.
 */
export type MakeCall = (method: string, payload: object, options: CallOptions) => Promise<unknown>;

/** Longest a quick call may take, in ms. */
export const QUICK_MS = 15_000;

/**
 * Calls over Node's own agent, which keeps connections, knows the proxy, and drops idle connections before a server
 * closes them under a send. `onAnswer` gets the headers of each answer.
 */
export function createCaller(
  { apiRoot, token }: Pick<TelegramSettings, 'apiRoot' | 'token'>,
  onAnswer: (headers: IncomingHttpHeaders) => void = () => {},
): MakeCall {
  const { request } = apiRoot.startsWith('https:') ? https : http;
  // Without the slash at its end a path would lose its last step.
  const root = apiRoot.endsWith('/') ? apiRoot : `${apiRoot}/`;
  const place = urlToHttpOptions(new URL(`./bot${token}/`, root));
  return async (method, payload, { signal, limitMs, onSent, ...watch }) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const boundary = Object.values(payload).some(isFile) ? randomUUID() : undefined;
    const type = boundary ? `multipart/form-data; boundary=${boundary}` : 'application/json';
    const headers = { 'content-type': type };
    const call = request({ ...place, path: `${place.path}${method}`, method: 'POST', headers });
    const end = (): void => reject(new DOMException('The call was ended.', 'AbortError'));
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
      // Also an upload that was refused before its end.
      call.destroy();
      throw watched.isReady ? thrown : new Unsent(thrown);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      watched.end();
    }
  };
}

/**
 * Notes when a connection is ready for a call: at once where it was kept, or comes through a tunnel; else when it is
 * made, with TLS once the handshake is over. What fails before that was certainly not sent (D04).
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
      // The agent sets the timer of the socket again when the connection is kept for the next call.
      const silent = (): void => {
        // Where the whole process stood still, timers come first, and what has arrived meanwhile is not read yet.
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
 * Writes the fields as a form. Telegraf's own form loses objects beside a file and does not escape file names, and
 * that of `fetch` ends the process when a file cannot be read to its end.
 */
async function* encodeForm(payload: object, boundary: string): AsyncGenerator<string | Uint8Array> {
  for (const [name, value] of Object.entries(payload)) {
    if (value === undefined) continue;
    const filename = isFile(value) ? `; filename="${headerSafe(value.name)}"` : '';
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

/** Servers read an escaped quote or line end in different ways. */
function headerSafe(name: string): string {
  return name.replace(/["\\\p{Cc}\u2028\u2029/]/gu, '_');
}

const Answer = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({
    ok: z.literal(false),
    error_code: z.int(),
    description: z.string().catch(''),
    parameters: lenient(
      z.object({
        retry_after: lenient(z.number().nonnegative()),
        migrate_to_chat_id: lenient(z.int()),
      }),
    ),
  }),
]);

/** Too large, too often: a server in between may say so in HTML, and passes nothing on. */
const OF_SERVER: ReadonlySet<number> = new Set([413, 429]);

/** The result of a call. Throws `ApiError` when Telegram refuses, or a server in between answers. */
async function readCallResult(response: IncomingMessage): Promise<unknown> {
  const { statusCode: status = 0, statusMessage: description = '' } = response;
  const body = await readResponseText(response);
  if (status >= 500) throw new ApiError({ error_code: status, description });
  const answer = Answer.safeParse(parseJson(body));
  if (!answer.success && OF_SERVER.has(status))
    throw new ApiError({ error_code: status, description });
  if (!answer.success) throw new Error(`HTTP ${status} without an answer of the Bot API`);
  if (answer.data.ok) return answer.data.result;
  throw new ApiError(answer.data);
}

/** Most bytes of an answer; a hundred updates of the longest messages are half of it. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** With listeners: `for await` over an answer costs a third of a call. */
function readResponseText(response: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) response.destroy(new Error('the answer is larger than 64 MB'));
    else chunks.push(chunk);
  });
  response.on('end', () => resolve(Buffer.concat(chunks).toString()));
  response.on('error', reject);
  return promise;
}
