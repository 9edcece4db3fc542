import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent } from 'node:http';
import https from 'node:https';
import { Telegram } from 'telegraf';
import { z } from 'zod';
import type { TelegramSettings } from './settings.ts';
import { BotIdentity, UPDATE_KINDS, WireUpdate } from './wire.ts';

/** The way to the Bot API. All reject with what telegraf throws, or `Unsent`; `callFailureOf` reads it. */
export interface TelegramApi {
  getMe(signal: AbortSignal): Promise<BotIdentity>;
  /** Waits up to `waitSeconds` for updates from `offset` on, and confirms all before it. */
  getUpdates(offset: number, waitSeconds: number, signal: AbortSignal): Promise<WireUpdate[]>;
  /** Keeps the updates that wait. */
  deleteWebhook(signal: AbortSignal): Promise<void>;
  /** Any quick call, ended after 15 s; gives back what it answers, unchecked. */
  call(method: string, payload: object, signal: AbortSignal): Promise<unknown>;
  /**
   * Any call that makes a message; only the signal ends it. Gives back the id of the message. `begun` is called
   * before anything is written.
   */
  send(
    method: string,
    payload: object,
    signal: AbortSignal,
    begun?: (() => void) | undefined,
  ): Promise<string>;
}

/** Longest a quick call may take, in ms; telegraf itself would wait 500 s. */
const CALL_TIMEOUT_MS = 15_000;
const SentMessage = z.object({ message_id: z.int() });

/** Telegraf as the one way to the Bot API; nothing of it shows outside. */
export function connectTelegramApi(settings: TelegramSettings): TelegramApi {
  const apiRoot = withTrailingSlash(settings.apiRoot);
  const telegram = new Telegram(settings.token, { apiRoot, webhookReply: false });
  const { agent, watched } = watchConnections(apiRoot);
  // Not among the options above: there telegraf drops it for http.
  telegram.options.agent = agent;
  // Telegraf's names end with Bot API 7.1 and its signal is that of an old polyfill; both go out as they are.
  const call = (
    method: string,
    payload: object,
    signal: AbortSignal,
    begun?: () => void,
  ): Promise<unknown> =>
    watched(() => telegram.callApi(method as never, payload as never, { signal } as never), begun);
  const within = (ms: number, signal: AbortSignal) =>
    AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  const quick: TelegramApi['call'] = (method, payload, signal) =>
    call(method, payload, within(CALL_TIMEOUT_MS, signal));
  return {
    call: quick,
    getMe: async (signal) => BotIdentity.parse(await quick('getMe', {}, signal)),
    async getUpdates(offset, waitSeconds, signal) {
      const wish = { offset, timeout: waitSeconds, allowed_updates: UPDATE_KINDS };
      const limit = within(waitSeconds * 1000 + CALL_TIMEOUT_MS, signal);
      return z.array(WireUpdate).parse(await call('getUpdates', wish, limit));
    },
    async deleteWebhook(signal) {
      await quick('deleteWebhook', {}, signal);
    },
    send: async (method, payload, signal, begun) =>
      String(SentMessage.parse(await call(method, payload, signal, begun)).message_id),
  };
}

/** Without it telegraf loses the last step of a path: `http://h/proxy` would become `http://h/`. */
function withTrailingSlash(address: string): string {
  return address.endsWith('/') ? address : `${address}/`;
}

/** A call that failed before a connection was ready for it: no byte of it left. */
export class Unsent extends Error {
  constructor(cause: unknown) {
    super('The call was not sent.', { cause });
  }
}

/** Calls whose connections are watched; the agent must make them. */
export interface WatchedConnections {
  readonly agent: Agent;
  /**
   * Makes a call; rejects with `Unsent` where its connection never became ready. `begun` is called before
   * anything is written on it.
   */
  watched<T>(call: () => Promise<T>, begun?: () => void): Promise<T>;
}

interface Call {
  isReady: boolean;
  begun: (() => void) | undefined;
}

/**
 * Telegraf tells neither whether a connection came about nor which one a request used, so the agent
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
    // Called without an error when a tunnel through a proxy is ready, and nothing else tells that.
    const socket = connect(options, (error, made) => {
      if (!error) ready(call);
      callback?.(error, made);
    });
    socket?.once('connect', () => begin(call));
    socket?.once(isTls ? 'secureConnect' : 'connect', () => ready(call));
    return socket;
  };
  const reuse = agent.reuseSocket.bind(agent);
  agent.reuseSocket = (socket, request) => {
    ready(calls.getStore());
    reuse(socket, request);
  };
  return {
    agent,
    async watched(make, begun) {
      const call: Call = { isReady: false, begun };
      try {
        return await calls.run(call, make);
      } catch (thrown) {
        throw call.isReady ? thrown : new Unsent(thrown);
      }
    },
  };
}

function ready(call: Call | undefined): void {
  if (call === undefined) return;
  begin(call);
  call.isReady = true;
}

function begin(call: Call | undefined): void {
  call?.begun?.();
  if (call !== undefined) call.begun = undefined;
}
