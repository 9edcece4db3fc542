import { type Clock, type Logger, type Monotonic, reasonOf } from '@parley/core';
import { createServerStatusTracker, type McpServerView } from './board.ts';
import type { McpCatalog } from './catalogue.ts';
import type { McpConnection } from './client.ts';
import type { Connect } from './connect.ts';
import { McpError, SESSION_ENDED } from './errors.ts';
import type { SignInServices } from './oauth/sign-in-state.ts';
import type { McpServerConfig } from './peer.ts';

/** The dependencies of `startServerKeeper`; times are in ms. */
export interface ServerKeeperDeps {
  readonly connect: Connect;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** A random number between 0 and 1. */
  readonly random: () => number;
  /** Resolves after `ms`, or immediately when the signal fires. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
  /** If it is absent, people cannot sign in. */
  readonly signInAt?: ((server: string) => SignInServices) | undefined;
  /** Called with a server's tools, after connecting and after every change. */
  readonly onOffer?: ((server: string, tools: McpCatalog['tools']) => void) | undefined;
}

/** The deadline for connecting over HTTP and for listing, in ms. */
const CONNECT_MS = 30_000;
/**
 * The deadline for the first response of a program, in ms; `npx` and `uvx` may have to download it
 * first.
 */
const START_MS = 120_000;
/** How long a call waits for a new session after the server has ended its session, in ms. */
const NEW_SESSION_MS = 10_000;
/** The interval at which an idle server is polled for its tools and prompts, in ms. */
const LOOK_MS = 30_000;
/** The minimum interval between two polls of a server that keeps reporting changes, in ms. */
const SETTLE_MS = 1_000;
/** A connection that lasts this long resets the backoff, in ms. */
const GOOD_MS = 60_000;
/** The deadline for closing a connection, in ms; it must fit into Parley's shutdown. */
const CLOSE_MS = 2_000;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 5 * 60_000;

/**
 * Computes the delay before the next attempt, which doubles up to five minutes; half of it is
 * random.
 */
function computeReconnectDelay(failures: number, random: () => number): number {
  const full = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 20), MAX_WAIT_MS);
  return Math.round(full / 2 + (full / 2) * random());
}

/**
 * Keeps one server connected in the background: connects, lists its tools, detects that it has
 * exited or stopped responding, and reconnects with growing delays. Logs one line per change, not
 * per attempt.
 */
export function startServerKeeper(config: McpServerConfig, deps: ServerKeeperDeps) {
  const closing = new AbortController();
  const board = createServerStatusTracker(config.name, deps.log, deps.onOffer);
  let connection: McpConnection | null = null;
  const handover = createConnectionHandover(deps, closing.signal);
  let underWay = 0;
  let lookSoon = (): void => {};
  const look = async (from: McpConnection): Promise<void> => {
    const offer = await from.list(addTimeout(closing.signal, CONNECT_MS));
    board.connected(offer);
  };
  /** Connects and waits until the connection ends; resolves with the reason. */
  const hold = async (): Promise<string> => {
    let changed = Promise.withResolvers<void>();
    const signal = addTimeout(closing.signal, getConnectMs(config));
    lookSoon = () => changed.resolve();
    const onChange = (): void => lookSoon();
    const opened = await deps.connect(config, {
      env: deps.env,
      clock: deps.clock,
      signIn: deps.signInAt?.(config.name),
      signal,
      onChange,
    });
    try {
      await look(opened);
      connection = opened;
      handover.announce(opened);
      for (;;) {
        const why = await waitForNextPoll(deps, opened, changed.promise, closing.signal);
        if (why !== null) return why;
        changed = Promise.withResolvers<void>();
        // A busy server may respond late, so it is not polled during calls.
        if (underWay === 0) await look(opened);
      }
    } catch (error) {
      if (isSignInError(error)) throw error;
      // The exit status of the server is more informative than the failed request.
      return await Promise.race([opened.ended, reasonOf(error)]);
    } finally {
      connection = null;
      // A server that cannot be closed must not keep the other servers open.
      await Promise.race([opened.close(), deps.pause(CLOSE_MS, NEVER)]);
    }
  };
  const ran = keepConnectionOpen(hold, deps, board, { name: config.name, closing: closing.signal });
  return {
    view: board.view,
    /**
     * Runs `ask` with the connection; throws McpError `mcp-not-connected` if there is none. A
     * request that was not executed because the server had ended the session is repeated once in a
     * new session.
     */
    async use<Answer>(
      ask: (connection: McpConnection) => Promise<Answer>,
      signal: AbortSignal,
    ): Promise<Answer> {
      if (connection === null) throw createNotConnectedError(board.view());
      const first = connection;
      underWay += 1;
      try {
        return await ask(first).catch(async (error: unknown) => {
          if (!(error instanceof McpError) || error.code !== 'mcp-session') throw error;
          const isNew = connection !== null && connection !== first;
          const next = isNew ? connection : await handover.next(signal);
          if (next === null) throw createNotConnectedError(board.view());
          return await ask(next);
        });
      } catch (error) {
        // Over HTTP, a failed request is the only sign that the server is unreachable.
        if (
          error instanceof McpError &&
          (error.code === 'mcp-disconnected' || isSignInError(error))
        )
          lookSoon();
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

/** A program may have to be downloaded before its first start. */
function getConnectMs({ peer }: McpServerConfig): number {
  return peer.kind === 'stdio' ? START_MS : CONNECT_MS;
}

interface ServerKeeperState {
  readonly name: string;
  readonly closing: AbortSignal;
}

/** Reconnects until it is closed. */
async function keepConnectionOpen(
  hold: () => Promise<string>,
  deps: ServerKeeperDeps,
  board: ReturnType<typeof createServerStatusTracker>,
  { name, closing }: ServerKeeperState,
): Promise<void> {
  const { clock, monotonic, random, pause } = deps;
  for (let failures = 1; !closing.aborted; failures += 1) {
    const startedAt = monotonic();
    const ended: unknown = await hold().catch((error: unknown) => error);
    const reason = typeof ended === 'string' ? ended : reasonOf(ended);
    if (closing.aborted) break;
    if (monotonic() - startedAt > GOOD_MS) failures = 1;
    const isAtOnce = failures === 1 && reason === SESSION_ENDED;
    const wait = isAtOnce ? 0 : computeReconnectDelay(failures, random);
    const needsSignIn = isSignInError(ended);
    board.waiting({ reason, needsSignIn }, clock(), wait);
    if (needsSignIn) await waitUntilSignedIn(deps, name, closing);
    else await pause(wait, closing);
  }
  board.closed();
}

function isSignInError(error: unknown): boolean {
  return error instanceof McpError && error.code === 'mcp-sign-in';
}

/** The interval at which the vault is polled for a sign-in completed by another process, in ms. */
const SIGN_IN_LOOK_MS = 2_000;

/** The server is not contacted before a sign-in, because it would refuse the connection. */
async function waitUntilSignedIn(
  { signInAt, pause, log }: ServerKeeperDeps,
  name: string,
  closing: AbortSignal,
): Promise<void> {
  const vault = signInAt?.(name).vault;
  while (!closing.aborted) {
    await pause(SIGN_IN_LOOK_MS, closing);
    try {
      if ((await vault?.read())?.tokens !== undefined) return;
    } catch (error) {
      log.debug({ server: name, reason: reasonOf(error) }, 'MCP server: cannot read its sign-in');
    }
  }
}

/** Passes the next connection to the calls that are waiting for one. */
function createConnectionHandover(
  { pause }: Pick<ServerKeeperDeps, 'pause'>,
  closing: AbortSignal,
) {
  const awaiting = new Set<(next: McpConnection) => void>();
  return {
    announce(opened: McpConnection): void {
      for (const hear of awaiting) hear(opened);
    },
    /** Resolves with null when no connection is opened in time. */
    async next(signal: AbortSignal): Promise<McpConnection | null> {
      const next = Promise.withResolvers<McpConnection>();
      awaiting.add(next.resolve);
      const none = pause(NEW_SESSION_MS, AbortSignal.any([closing, signal])).then(() => null);
      const found = await Promise.race([next.promise, none]);
      awaiting.delete(next.resolve);
      return found;
    },
  };
}

const NEVER = new AbortController().signal;

function addTimeout(signal: AbortSignal, ms: number): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(ms)]);
}

/** Waits until the next poll is due (null), or until the connection has ended (the reason). */
async function waitForNextPoll(
  { pause }: ServerKeeperDeps,
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

function createNotConnectedError({ name, state }: McpServerView): McpError {
  const why = state.kind === 'waiting' ? `: ${state.reason}` : '';
  const message = `the server ${name} is not connected now${why}`;
  return new McpError({ code: 'mcp-not-connected', message, retryable: true });
}
