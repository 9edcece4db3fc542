import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { McpCatalogue } from './catalogue/catalogue.ts';
import type { Connect, McpConnection } from './connect.ts';
import { McpError } from './mcp-error.ts';
import type { McpServerConfig } from './server-config.ts';
import { createBoard, type McpServerView } from './server-view.ts';

/** One server that is kept connected. */
export interface KeptServer {
  /** The same object as long as nothing has changed. */
  view(): McpServerView;
  /** Uses the connection; throws McpError `mcp-not-connected` where there is none. */
  use<Answer>(ask: (connection: McpConnection) => Promise<Answer>): Promise<Answer>;
  close(): Promise<void>;
}

/** What keeping a server needs from outside; times are in ms. */
export interface KeepDeps {
  readonly connect: Connect;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
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
export function keepServer(config: McpServerConfig, deps: KeepDeps): KeptServer {
  const { clock, log } = deps;
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
      // One that does not even let itself be closed holds up nobody.
      await Promise.race([opened.close(), deps.pause(CLOSE_MS, NEVER)]);
    }
  };
  const run = async (): Promise<void> => {
    for (let failures = 1; !closing.signal.aborted; failures += 1) {
      const begunAt = clock();
      const reason = await hold().catch(reasonOf);
      if (closing.signal.aborted) break;
      if (clock() - begunAt > GOOD_MS) failures = 1;
      const wait = waitBefore(failures, deps.random);
      board.waiting(reason, clock(), wait);
      await deps.pause(wait, closing.signal);
    }
    board.closed();
  };
  const ran = run();
  return {
    view: board.view,
    async use(ask) {
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
    async close() {
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
