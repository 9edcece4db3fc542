import { AsyncLocalStorage } from 'node:async_hooks';
import http, { Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import {
  type ChannelProbe,
  type ClockReading,
  type ProbeEnv,
  type ProbeWarning,
  probePicture,
  readClock,
} from '@parley/channels/probe';
import { Telegram, TelegramError } from 'telegraf';
import { z } from 'zod';
import { messageIdOf } from './ephemeral.ts';
import { afterConnectionFailure, callFailureOf, Unsent } from './failures.ts';
import { createFiles } from './files.ts';
import type { TelegramSettings } from './settings.ts';
import { BotIdentity, UPDATE_KINDS, WireUpdate } from './wire.ts';

/** The way to the Bot API. All reject with what telegraf throws, or `Unsent`; `callFailureOf` reads it. */
export interface TelegramApi {
  getMe(signal: AbortSignal): Promise<BotIdentity>;
  /** Waits up to `waitSeconds` for updates from `offset` on, and confirms all before it. */
  getUpdates(offset: number, waitSeconds: number, signal: AbortSignal): Promise<WireUpdate[]>;
  /** Keeps the updates that wait. */
  deleteWebhook(signal: AbortSignal): Promise<void>;
  /** Any quick call, ended after 15 s, or only by the signal with `limitMs: null`; returns the answer, unchecked. */
  call(
    method: string,
    payload: object,
    signal: AbortSignal,
    limitMs?: null | undefined,
  ): Promise<unknown>;
  /**
   * Any call that makes a message; the signal ends it, or 15 s in which no byte moves. Returns the id of the
   * message. `onStart` is called before anything is written.
   */
  send(
    method: string,
    payload: object,
    signal: AbortSignal,
    onStart?: (() => void) | undefined,
  ): Promise<string>;
}

/** Longest a quick call may take, in ms; telegraf itself would wait 500 s. */
const CALL_TIMEOUT_MS = 15_000;
/** A connection on which no byte moves for so long during a send is dead (D13), however long an upload takes. In ms. */
const SILENT_MS = 15_000;
const SentMessage = z.object({
  message_id: z.int(),
  ephemeral_message_id: z.int().optional(),
  date: z.int().optional(),
});

const Updates = z.array(WireUpdate);

/**
 * Telegraf's Bot API; nothing of it shows outside. Calls without files do without its copy of fetch, and call
 * `onAnswer`.
 */
export function connectTelegramApi(
  settings: TelegramSettings,
  onAnswer: (headers: IncomingHttpHeaders) => void = () => {},
  silentMs = SILENT_MS,
): TelegramApi {
  const apiRoot = withTrailingSlash(settings.apiRoot);
  const telegram = new Telegram(settings.token, { apiRoot, webhookReply: false });
  const { agent, watched } = watchConnections(apiRoot);
  // Not among the options above: there telegraf drops it for http.
  telegram.options.agent = agent;
  const post = jsonCaller(apiRoot, settings.token, agent, onAnswer);
  const call = (method: string, payload: object, limits: CallLimits): Promise<unknown> =>
    watched(() => post(method, payload, limits));
  const quick: TelegramApi['call'] = (method, payload, signal, limitMs) =>
    call(method, payload, { signal, ...(limitMs !== null && { limitMs: CALL_TIMEOUT_MS }) });
  return {
    call: quick,
    getMe: async (signal) => BotIdentity.parse(await quick('getMe', {}, signal)),
    async getUpdates(offset, waitSeconds, signal) {
      const parameters = { offset, timeout: waitSeconds, allowed_updates: UPDATE_KINDS };
      const limitMs = waitSeconds * 1000 + CALL_TIMEOUT_MS;
      return Updates.parse(await call('getUpdates', parameters, { signal, limitMs }));
    },
    async deleteWebhook(signal) {
      await quick('deleteWebhook', {}, signal);
    },
    async send(method, payload, signal, onStart) {
      // Telegraf's names end with Bot API 7.1 and its signal is that of an old polyfill; both go out as they are.
      const make = hasFile(payload)
        ? () => telegram.callApi(method as never, payload as never, { signal } as never)
        : () => post(method, payload, { signal });
      return messageIdOf(SentMessage.parse(await watched(make, { onStart, silentMs })));
    },
  };
}

/** What telegraf sends as a form. */
function hasFile(payload: object): boolean {
  return Object.values(payload).some(
    (field) => typeof field === 'object' && field !== null && 'source' in field,
  );
}

/** What ends a call before its answer. */
interface CallLimits {
  readonly signal: AbortSignal;
  readonly limitMs?: number;
}

/** Named as those of fetch. */
class CallAborted extends Error {
  override readonly name = 'AbortError';
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

/**
 * Makes calls as JSON, over the agent's connections. Rejects with what the connection threw, with a
 * `TelegramError`, or with an `AbortError`; none of them names the address, which holds the token.
 */
function jsonCaller(
  apiRoot: string,
  token: string,
  agent: Agent,
  onAnswer: (headers: IncomingHttpHeaders) => void,
) {
  const { request } = apiRoot.startsWith('https:') ? https : http;
  const place = urlToHttpOptions(new URL(`./bot${token}/`, apiRoot));
  const headers = { 'content-type': 'application/json' };
  return async (method: string, payload: object, limits: CallLimits): Promise<unknown> => {
    const { signal, limitMs } = limits;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const path = `${place.path}${method}`;
    const call = request({ ...place, path, method: 'POST', agent, headers });
    const end = (): void => {
      const aborted = new CallAborted('The call was ended.');
      reject(aborted);
      call.destroy(aborted);
    };
    const timer = limitMs === undefined ? undefined : setTimeout(end, limitMs);
    signal.addEventListener('abort', end);
    call.on('error', reject);
    call.on('response', (response) => {
      onAnswer(response.headers);
      readAnswer(response).then(resolve, reject);
    });
    if (signal.aborted) end();
    else call.end(JSON.stringify(payload));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  };
}

/** The result of a call. Throws TelegramError when Telegram refuses, or a server in between answers. */
async function readAnswer(response: IncomingMessage): Promise<unknown> {
  const { statusCode: status = 0, statusMessage: description = '' } = response;
  const text = await textOf(response);
  if (status >= 500) throw new TelegramError({ error_code: status, description });
  const answer = Answer.safeParse(parsed(text));
  if (!answer.success) throw new Error(`HTTP ${status} without an answer of the Bot API`);
  if (answer.data.ok) return answer.data.result;
  throw new TelegramError(answer.data);
}

function textOf(response: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('end', () => resolve(Buffer.concat(chunks).toString()));
  response.on('error', reject);
  return promise;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Without it telegraf loses the last step of a path: `http://h/proxy` would become `http://h/`. */
function withTrailingSlash(address: string): string {
  return address.endsWith('/') ? address : `${address}/`;
}

/** Calls whose connections are watched; the agent must make them. */
interface WatchedConnections {
  readonly agent: Agent;
  /**
   * Makes a call; rejects with `Unsent` where its connection never became ready. `onStart` is called before
   * anything is written on it; the connection is destroyed once it has been silent for `silentMs`.
   */
  watched<T>(call: () => Promise<T>, watch?: CallWatch): Promise<T>;
}

interface CallWatch {
  readonly onStart: (() => void) | undefined;
  readonly silentMs: number;
}

interface Call {
  isReady: boolean;
  onStart: (() => void) | undefined;
  readonly silentMs: number | undefined;
  endWatch?: () => void;
}

/**
 * Telegraf reports neither whether a connection came about nor which one a request used, so the agent
 * looks: a request is written once its new connection is ready (with TLS: once the handshake is
 * over), or at once on one that was kept. What fails before that was certainly not sent (D04).
 */
function watchConnections(address: string): WatchedConnections {
  const calls = new AsyncLocalStorage<Call>();
  const isTls = address.startsWith('https:');
  // As Node's own agent: it knows the proxy, and drops idle connections before a server closes them under a send.
  const { options } = https.globalAgent;
  const agent = isTls
    ? new https.Agent(options)
    : new Agent({ ...options, defaultPort: 80, protocol: 'http:' });
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const call = calls.getStore();
    // Called without an error when a tunnel through a proxy is ready, and no other event reports that.
    const socket = connect(options, (error, made) => {
      if (!error) ready(call);
      callback?.(error, made);
    });
    socket?.once('connect', () => begin(call));
    socket?.once(isTls ? 'secureConnect' : 'connect', () => ready(call));
    if (socket) watchSilence(call, socket);
    return socket;
  };
  const reuse = agent.reuseSocket.bind(agent);
  agent.reuseSocket = (socket, request) => {
    const call = calls.getStore();
    ready(call);
    reuse(socket, request);
    watchSilence(call, socket);
  };
  return {
    agent,
    async watched(make, watch) {
      const call: Call = { isReady: false, onStart: watch?.onStart, silentMs: watch?.silentMs };
      try {
        return await calls.run(call, make);
      } catch (thrown) {
        throw call.isReady ? thrown : new Unsent(thrown);
      } finally {
        call.endWatch?.();
      }
    },
  };
}

/** The agent sets the timer of the socket again when the connection is kept for the next call. */
function watchSilence(call: Call | undefined, socket: Duplex): void {
  if (call?.silentMs === undefined || !(socket instanceof Socket)) return;
  const end = (): void => void socket.destroy(new Error('no byte moved on the connection in time'));
  socket.setTimeout(call.silentMs, end);
  call.endWatch = () => socket.off('timeout', end);
}

function ready(call: Call | undefined): void {
  if (call === undefined) return;
  begin(call);
  call.isReady = true;
}

function begin(call: Call | undefined): void {
  call?.onStart?.();
  if (call !== undefined) call.onStart = undefined;
}

/** Asks Telegram who the bot is, and how calls of its webhook go. Takes no update from a running gateway. */
export async function probeTelegram(
  settings: TelegramSettings,
  { signal, clock, wantsPicture }: Pick<ProbeEnv, 'signal' | 'clock' | 'wantsPicture'>,
): Promise<ChannelProbe> {
  const { host } = new URL(settings.apiRoot);
  const asked = clock();
  let reading: ClockReading | null = null;
  const api = connectTelegramApi(settings, ({ date }) => {
    reading ??= readClock(host, date, { asked, answered: clock() });
  });
  try {
    const { id, username } = await api.getMe(signal);
    const warnings = settings.webhook === undefined ? [] : await webhookWarnings(api, signal);
    const picture = await probePicture({ signal, wantsPicture }, async (limit, within) => {
      const fileId = await pictureOf(api, id, within);
      if (fileId === undefined) return undefined;
      return createFiles({ api, settings }).fetch(fileId, limit, within);
    });
    return { kind: 'works', as: `@${username}`, warnings, clock: reading, ...picture };
  } catch (thrown) {
    return problemOf(thrown, host);
  }
}

function problemOf(thrown: unknown, host: string): ChannelProbe {
  const failure = callFailureOf(thrown);
  const decision = afterConnectionFailure(failure, 0, 0);
  if (decision.kind === 'give-up')
    return {
      kind: 'problem',
      reason: decision.reason,
      fix: decision.fix,
      retryable: false,
    };
  const fix =
    failure.kind === 'refused'
      ? 'Try again later.'
      : `Check the network and the name service of this machine, and channels.telegram.apiRoot if you set one: ${host} must be reachable.`;
  const reason =
    decision.kind === 'retry' ? decision.reason : `Telegram answered: ${failure.reason}`;
  return { kind: 'problem', reason, fix, retryable: true };
}

const Photos = z.object({
  photos: z.array(z.array(z.object({ file_id: z.string(), width: z.int() }))),
});
/** Shown smaller than that; Telegram has it in 160, 320 and 640 pixels. */
const WIDE_ENOUGH = 160;

/** The id of the smallest file of the present picture that is large enough. */
async function pictureOf(
  api: TelegramApi,
  id: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const payload = { user_id: id, limit: 1 };
  const { photos } = Photos.parse(await api.call('getUserProfilePhotos', payload, signal));
  const sizes = photos[0] ?? [];
  return (sizes.find(({ width }) => width >= WIDE_ENOUGH) ?? sizes.at(-1))?.file_id;
}

const WebhookInfo = z.object({
  url: z.string().default(''),
  pending_update_count: z.int().default(0),
  last_error_message: z.string().optional(),
});

/** Nothing is wrong with a webhook whose last failed call was made good: then no update waits. */
async function webhookWarnings(
  api: TelegramApi,
  signal: AbortSignal,
): Promise<readonly ProbeWarning[]> {
  const info = WebhookInfo.parse(await api.call('getWebhookInfo', {}, signal));
  const { last_error_message: reason, pending_update_count: waiting } = info;
  if (reason === undefined || waiting === 0) return [];
  return [
    {
      reason: `Telegram could not call the webhook (${reason}); ${waiting} updates wait`,
      fix: 'Make channels.telegram.webhook.url reachable from the internet with a valid certificate.',
    },
  ];
}
