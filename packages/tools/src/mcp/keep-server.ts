import { type Clock, type Logger, type Monotonic, reasonOf } from '@parley/core';
import { createBoard, type McpServerView } from './board.ts';
import type { McpCatalogue } from './catalogue.ts';
import type { McpConnection } from './client.ts';
import type { Connect } from './connect.ts';
import { McpError, SESSION_ENDED } from './errors.ts';
import type { SignInMeans } from './oauth/sign-in-state.ts';
import type { McpServerConfig } from './peer.ts';

/** The services of keeping a server; times are in ms. */
export interface KeepDeps {
  readonly connect: Connect;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** Resolves after that time, or at once when the signal fires. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
  /** Without it nobody signs in. */
  readonly signInAt?: ((server: string) => SignInMeans) | undefined;
  /** Hears what a server offers, at first and whenever that changes. */
  readonly onOffer?: ((server: string, tools: McpCatalogue['tools']) => void) | undefined;
}

/** The deadline of connecting over HTTP and of listing, in ms. */
const CONNECT_MS = 30_000;
/** The deadline of a program until it answers, in ms: `npx` and `uvx` fetch it first. */
const START_MS = 120_000;
/** The time for which a call waits for a new session after the server has ended one, in ms. */
const NEW_SESSION_MS = 10_000;
/** The interval at which a quiet server is asked whether it is there and what it offers, in ms. */
const LOOK_MS = 30_000;
/** A server that says again and again that something has changed is asked this often at most. */
const SETTLE_MS = 1_000;
/** A connection that held this long was a good one. */
const GOOD_MS = 60_000;
/** The deadline of closing, in ms; it must fit into the end of Parley. */
const CLOSE_MS = 2_000;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 5 * 60_000;

/** The time before the next attempt: doubles up to five minutes, half of it left to chance. */
function waitBefore(failures: number, random: () => number): number {
  const full = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 20), MAX_WAIT_MS);
  return Math.round(full / 2 + (full / 2) * random());
}

/**
 * Keeps one server connected, in the background: connects, looks what it offers, notices when it ends or
 * no longer answers, and tries again, ever more seldom. One line is logged for each change, not for each
 * attempt.
 */
export function keepServer(config: McpServerConfig, deps: KeepDeps) {
  const closing = new AbortController();
  const board = createBoard(config.name, deps.log, deps.onOffer);
  let connection: McpConnection | null = null;
  const handover = createHandover(deps, closing.signal);
  let underWay = 0;
  let lookSoon = (): void => {};
  const look = async (from: McpConnection): Promise<void> => {
    const offer = await from.list(withTimeout(closing.signal, CONNECT_MS));
    board.connected(offer);
  };
  /** Holds one connection until it ends; resolves with why. */
  const hold = async (): Promise<string> => {
    let changed = Promise.withResolvers<void>();
    const connectMs = config.peer.kind === 'stdio' ? START_MS : CONNECT_MS;
    const signal = withTimeout(closing.signal, connectMs);
    lookSoon = () => changed.resolve();
    const onChange = (): void => lookSoon();
    const opened = await deps.connect(config, {
      ...{
        env: deps.env,
        clock: deps.clock,
        signIn: deps.signInAt?.(config.name),
        signal,
        onChange,
      },
    });
    try {
      await look(opened);
      connection = opened;
      handover.announce(opened);
      for (;;) {
        const why = await nextLook(deps, opened, changed.promise, closing.signal);
        if (why !== null) return why;
        changed = Promise.withResolvers<void>();
        // It may well be busy with what it was asked, and say so late.
        if (underWay === 0) await look(opened);
      }
    } catch (error) {
      if (isSignIn(error)) throw error;
      // How it ended says more than that what was asked of it failed.
      return await Promise.race([opened.ended, reasonOf(error)]);
    } finally {
      connection = null;
      // A server that cannot be closed blocks no other.
      await Promise.race([opened.close(), deps.pause(CLOSE_MS, NEVER)]);
    }
  };
  const ran = keepOpen(hold, deps, board, { name: config.name, closing: closing.signal });
  return {
    view: board.view,
    /**
     * Uses the connection; throws McpError `mcp-not-connected` where there is none. What a server has not done because
     * it ended the session is asked once more in the next one.
     */
    async use<Answer>(
      ask: (connection: McpConnection) => Promise<Answer>,
      signal: AbortSignal,
    ): Promise<Answer> {
      if (connection === null) throw notConnectedError(board.view());
      const first = connection;
      underWay += 1;
      try {
        return await ask(first).catch(async (error: unknown) => {
          if (!(error instanceof McpError) || error.code !== 'mcp-session') throw error;
          const isNew = connection !== null && connection !== first;
          const next = isNew ? connection : await handover.next(signal);
          if (next === null) throw notConnectedError(board.view());
          return await ask(next);
        });
      } catch (error) {
        // Over HTTP nothing else says that the server is gone.
        if (error instanceof McpError && (error.code === 'mcp-disconnected' || isSignIn(error)))
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

interface Keeping {
  readonly name: string;
  readonly closing: AbortSignal;
}

/** Holds one connection after the other, until it is closed. */
async function keepOpen(
  hold: () => Promise<string>,
  deps: KeepDeps,
  board: ReturnType<typeof createBoard>,
  { name, closing }: Keeping,
): Promise<void> {
  const { clock, monotonic, random, pause } = deps;
  for (let failures = 1; !closing.aborted; failures += 1) {
    const startedAt = monotonic();
    const ended: unknown = await hold().catch((error: unknown) => error);
    const reason = typeof ended === 'string' ? ended : reasonOf(ended);
    if (closing.aborted) break;
    if (monotonic() - startedAt > GOOD_MS) failures = 1;
    const isAtOnce = failures === 1 && reason === SESSION_ENDED;
    const wait = isAtOnce ? 0 : waitBefore(failures, random);
    const needsSignIn = isSignIn(ended);
    board.waiting({ reason, needsSignIn }, clock(), wait);
    if (needsSignIn) await untilSignedIn(deps, name, closing);
    else await pause(wait, closing);
  }
  board.closed();
}

function isSignIn(error: unknown): boolean {
  return error instanceof McpError && error.code === 'mcp-sign-in';
}

/** A person may sign in at another process: what is kept is looked at. In ms. */
const SIGN_IN_LOOK_MS = 2_000;

/** The server is not asked again before: it would only refuse. */
async function untilSignedIn(
  { signInAt, pause, log }: KeepDeps,
  name: string,
  closing: AbortSignal,
): Promise<void> {
  const vault = signInAt?.(name).vault;
  while (!closing.aborted) {
    await pause(SIGN_IN_LOOK_MS, closing);
    try {
      if ((await vault?.read())?.tokens !== undefined) return;
    } catch (error) {
      log.debug({ server: name, reason: reasonOf(error) }, 'MCP server: its sign-in was not read');
    }
  }
}

/** Passes the next connection to those who wait for it. */
function createHandover({ pause }: Pick<KeepDeps, 'pause'>, closing: AbortSignal) {
  const awaiting = new Set<(next: McpConnection) => void>();
  return {
    announce(opened: McpConnection): void {
      for (const hear of awaiting) hear(opened);
    },
    /** Null where none comes in time. */
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

function withTimeout(signal: AbortSignal, ms: number): AbortSignal {
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

function notConnectedError({ name, state }: McpServerView): McpError {
  const why = state.kind === 'waiting' ? `: ${state.reason}` : '';
  const message = `the server ${name} is not connected now${why}`;
  return new McpError({ code: 'mcp-not-connected', message, retryable: true });
}
