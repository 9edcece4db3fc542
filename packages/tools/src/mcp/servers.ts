import { setTimeout as timer } from 'node:timers/promises';
import { type Clock, type Logger, type Monotonic, reasonOf } from '@parley/core';
import { type McpCatalogue, type McpResult, NOTHING } from './catalogue.ts';
import { type Arguments, type Connect, connect, type McpConnection, McpError } from './connect.ts';
import type { McpServerConfig } from './transport.ts';

/** The servers of an installation. */
export interface McpServers {
  /** All of them as they are now, in the order of the settings. */
  views(): readonly McpServerView[];
  /** Throws McpError, and what the signal fires with. */
  call(server: string, tool: string, input: Arguments, signal: AbortSignal): Promise<McpResult>;
  /** A prompt with its arguments filled in, as text. Throws as `call` does. */
  prompt(
    server: string,
    name: string,
    input: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string>;
  /** Ends all connections and processes. */
  close(): Promise<void>;
}

/** What servers need from outside. */
export interface McpServersDeps extends Pick<KeepDeps, 'onOffer'> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly random: () => number;
  readonly log: Logger;
}

/** Starts to connect to all servers, in the background; returns them at once. */
export function openMcpServers(
  configs: readonly McpServerConfig[],
  deps: McpServersDeps & Partial<Pick<KeepDeps, 'connect' | 'pause'>>,
): McpServers {
  const keeping = { connect, pause, ...deps };
  const kept = new Map(configs.map((config) => [config.name, keepServer(config, keeping)]));
  const serverOf = (name: string) => {
    const server = kept.get(name);
    if (server !== undefined) return server;
    const message = `there is no MCP server ${name} in the settings`;
    throw new McpError({ code: 'mcp-not-connected', message, retryable: false });
  };
  return {
    views: () => [...kept.values()].map((server) => server.view()),
    call: (server, tool, input, signal) =>
      serverOf(server).use((connection) => connection.call(tool, input, signal)),
    prompt: (server, name, input, signal) =>
      serverOf(server).use((connection) => connection.prompt(name, input, signal)),
    async close() {
      await Promise.all([...kept.values()].map((server) => server.close()));
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // It ends early when no caller waits any more; that is no error.
  await timer(ms, undefined, { signal, ref: false }).catch(() => {});
}

/** What keeping a server needs from outside; times are in ms. */
interface KeepDeps {
  readonly connect: Connect;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** Resolves after that time, or at once when the signal fires. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
  /** Hears what a server offers, at first and whenever that changes. */
  readonly onOffer?: ((server: string, tools: McpCatalogue['tools']) => void) | undefined;
}

/** How long connecting, and asking for what there is, may take. */
const CONNECT_MS = 30_000;
/** How often a quiet server is asked whether it is still there, and what it offers now. */
const LOOK_MS = 30_000;
/** A server that says again and again that something has changed is asked this often at most. */
const SETTLE_MS = 1_000;
/** A connection that held this long was a good one. */
const GOOD_MS = 60_000;
/** How long closing may take; it must fit into the end of Parley. */
const CLOSE_MS = 2_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 5 * 60_000;

/** The time before the next attempt: doubles up to five minutes, half of it left to chance. */
function waitBefore(failures: number, random: () => number): number {
  const full = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 20), LONGEST_WAIT_MS);
  return Math.round(full / 2 + (full / 2) * random());
}

/**
 * Keeps one server connected, in the background: connects, looks what it offers, notices when it ends or
 * no longer answers, and tries again, ever more seldom. One line is logged for each change, not for each
 * attempt.
 */
function keepServer(config: McpServerConfig, deps: KeepDeps) {
  const { clock, monotonic, log } = deps;
  const { name } = config;
  const closing = new AbortController();
  const board = createBoard(name, log, deps.onOffer);
  let connection: McpConnection | null = null;
  let underWay = 0;
  let lookSoon = (): void => {};
  const look = async (from: McpConnection): Promise<void> => {
    const offer = await from.list(limited(closing.signal, CONNECT_MS));
    board.connected(offer);
  };
  /** Holds one connection until it ends; resolves with why. */
  const hold = async (): Promise<string> => {
    let changed = Promise.withResolvers<void>();
    const signal = limited(closing.signal, CONNECT_MS);
    lookSoon = () => changed.resolve();
    const onChange = (): void => lookSoon();
    const opened = await deps.connect(config, { env: deps.env, signal, onChange });
    try {
      await look(opened);
      connection = opened;
      for (;;) {
        const why = await nextLook(deps, opened, changed.promise, closing.signal);
        if (why !== null) return why;
        changed = Promise.withResolvers<void>();
        // It may well be busy with what it was asked, and say so late.
        if (underWay === 0) await look(opened);
      }
    } catch (error) {
      // How it ended says more than that what was asked of it failed.
      return await Promise.race([opened.ended, reasonOf(error)]);
    } finally {
      connection = null;
      // A server that cannot be closed blocks no other.
      await Promise.race([opened.close(), deps.pause(CLOSE_MS, NEVER)]);
    }
  };
  const run = async (): Promise<void> => {
    for (let failures = 1; !closing.signal.aborted; failures += 1) {
      const startedAt = monotonic();
      const reason = await hold().catch(reasonOf);
      if (closing.signal.aborted) break;
      if (monotonic() - startedAt > GOOD_MS) failures = 1;
      const wait = waitBefore(failures, deps.random);
      board.waiting(reason, clock(), wait);
      await deps.pause(wait, closing.signal);
    }
    board.closed();
  };
  const ran = run();
  return {
    view: board.view,
    /** Uses the connection; throws McpError `mcp-not-connected` where there is none. */
    async use<Answer>(ask: (connection: McpConnection) => Promise<Answer>): Promise<Answer> {
      if (connection === null) throw notConnected(board.view());
      underWay += 1;
      try {
        return await ask(connection);
      } catch (error) {
        // Over HTTP nothing else says that the server is gone.
        if (error instanceof McpError && error.code === 'mcp-lost') lookSoon();
        throw error;
      } finally {
        underWay -= 1;
      }
    },
    async close(): Promise<void> {
      closing.abort(new Error('Parley ends'));
      await ran;
    },
  };
}

const NEVER = new AbortController().signal;

function limited(signal: AbortSignal, ms: number): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(ms)]);
}

/** Waits until it is time to look again (null), or the connection has ended (why). */
async function nextLook(
  { pause }: KeepDeps,
  { ended }: McpConnection,
  changed: Promise<void>,
  closing: AbortSignal,
): Promise<string | null> {
  const waiting = new AbortController();
  const signal = AbortSignal.any([closing, waiting.signal]);
  const settled = changed.then(() => pause(SETTLE_MS, signal)).then(() => null);
  const looked = pause(LOOK_MS, signal).then(() => null);
  try {
    const why = await Promise.race([ended, settled, looked]);
    return closing.aborted ? 'Parley ends' : why;
  } finally {
    waiting.abort();
  }
}

function notConnected({ name, state }: McpServerView): McpError {
  const why = state.kind === 'waiting' ? `: ${state.reason}` : '';
  const message = `the server ${name} is not connected now${why}`;
  return new McpError({ code: 'mcp-not-connected', message, retryable: true });
}

/** How one server is doing. */
export type McpState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'waiting'; readonly reason: string; readonly nextAttemptAt: number }
  | { readonly kind: 'closed' };

/** A server, how it is doing, and what it offers now: nothing unless it is connected. */
export interface McpServerView extends McpCatalogue {
  readonly name: string;
  readonly state: McpState;
}

/** Of what is left out; a server must not fill the log. */
const MOST_LOGGED = 20;

/** How one server is doing, "connecting" at first; logs and reports changes, not attempts. */
function createBoard(
  name: string,
  log: Logger,
  onOffer?: (server: string, tools: McpCatalogue['tools']) => void,
) {
  let view: McpServerView = { name, state: { kind: 'connecting' }, ...NOTHING };
  let reported = '';
  const show = (state: McpState, offer: McpCatalogue = NOTHING): boolean => {
    const next: McpServerView = { name, state, ...offer };
    const isNew = JSON.stringify(next) !== JSON.stringify(view);
    if (isNew) view = next;
    return isNew;
  };
  return {
    /** The same object as long as nothing has changed. */
    view: () => view,
    connected(offer: McpCatalogue): void {
      if (!show({ kind: 'connected' }, offer)) return;
      reported = '';
      const { tools, prompts, refused } = offer;
      onOffer?.(name, tools);
      const facts = { server: name, tools: tools.length, prompts: prompts.length };
      log.info(facts, 'MCP server: connected');
      if (refused.length === 0) return;
      const left = refused.slice(0, MOST_LOGGED).map(({ what, reason }) => `${what}: ${reason}`);
      const message = 'MCP server: some of what it offers was left out';
      log.warn({ server: name, total: refused.length, left }, message);
    },
    /** `wait` in ms from `now`. */
    waiting(reason: string, now: number, wait: number): void {
      show({ kind: 'waiting', reason, nextAttemptAt: now + wait });
      const facts = { server: name, reason, retryInMs: wait };
      if (reason === reported) log.debug(facts, 'MCP server: still not there');
      else log.warn(facts, 'MCP server: not connected; its tools are gone until it is');
      reported = reason;
    },
    closed: () => void show({ kind: 'closed' }),
  };
}
