import http, {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { urlToHttpOptions } from 'node:url';
import { z } from 'zod';
import { ApiError, Unsent } from './failures.ts';
import { formOf } from './form.ts';
import type { TelegramSettings } from './settings.ts';

/** What ends one call, and what its caller is told meanwhile. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /** How long the whole call may take, in ms. */
  readonly limitMs?: number | undefined;
  /** How long its connection may be silent, in ms. */
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

/** Named as those of fetch. */
class CallAborted extends Error {
  override readonly name = 'AbortError';
}

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
    const form = formOf(payload);
    const headers = { 'content-type': form?.type ?? 'application/json' };
    const call = request({ ...place, path: `${place.path}${method}`, method: 'POST', headers });
    const end = (): void => reject(new CallAborted('The call was ended.'));
    const timer = limitMs === undefined ? undefined : setTimeout(end, limitMs);
    signal.addEventListener('abort', end);
    call.on('error', reject);
    call.on('response', (response) => {
      onAnswer(response.headers);
      readAnswer(response).then(resolve, reject);
    });
    if (onSent) call.on('finish', onSent);
    const watched = watchConnection(call, watch);
    if (signal.aborted) end();
    else if (form) pipeline(form.body, call).catch(reject);
    else call.end(JSON.stringify(payload));
    try {
      return await promise;
    } catch (thrown) {
      call.destroy();
      throw watched.isReady ? thrown : new Unsent(thrown);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      watched.end();
      // An upload that was answered before its end.
      if (!call.writableFinished) call.destroy();
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
      const silent = (): void =>
        void socket.destroy(new Error('no byte moved on the connection in time'));
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

const Answer = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({
    ok: z.literal(false),
    error_code: z.int(),
    description: z.string().default(''),
    parameters: z
      .object({
        retry_after: z.number().exactOptional(),
        migrate_to_chat_id: z.int().exactOptional(),
      })
      .exactOptional(),
  }),
]);

/** The result of a call. Throws `ApiError` when Telegram refuses, or a server in between answers. */
async function readAnswer(response: IncomingMessage): Promise<unknown> {
  const { statusCode: status = 0, statusMessage = '' } = response;
  const body = await text(response);
  if (status >= 500) throw new ApiError(status, statusMessage);
  const answer = Answer.safeParse(parsed(body));
  if (!answer.success) throw new Error(`HTTP ${status} without an answer of the Bot API`);
  if (answer.data.ok) return answer.data.result;
  const { error_code, description, parameters } = answer.data;
  throw new ApiError(error_code, description, parameters);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
