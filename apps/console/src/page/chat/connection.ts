import { isSignedIn, onSession, request } from '../session.ts';
import type { Link } from './conversation.ts';
import { type ChatEvent, type History, readEvent, readHistory } from './wire.ts';

/** The line to the gateway: live events while it holds, history whenever it is up again. */
export interface Connection {
  open(listener: ConnectionListener): void;
  /** Asks for the history now, outside the usual course. */
  refresh(): void;
}

/** What the connection tells. */
export interface ConnectionListener {
  link(link: Link): void;
  event(event: ChatEvent): void;
  history(history: History): void;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4_000;
/** The gateway says "alive" every 20 s; twice nothing means that the line is dead (a laptop slept). */
const SILENCE_MS = 45_000;

/**
 * Watches `base`/events and keeps at it. Events are opened before the history is asked for, so that
 * nothing falls between the two; both carry the same ids.
 */
export function browserConnection(base: string): Connection {
  let listener: ConnectionListener | null = null;
  let pause = FIRST_PAUSE_MS;
  let wake: (() => void) | null = null;
  let line: AbortController | null = null;

  /** Whether it came. */
  async function loadHistory(): Promise<boolean> {
    try {
      const response = await request(`${base}/history`);
      if (!response.ok) return false;
      listener?.history(readHistory(await response.json()));
      return true;
    } catch {
      return false;
    }
  }

  /** Resolves when the line is lost. */
  async function watch(): Promise<void> {
    line = new AbortController();
    const { signal } = line;
    try {
      const response = await request(`${base}/events`, { signal });
      if (!response.ok || response.body === null || !(await loadHistory())) return;
      pause = FIRST_PAUSE_MS;
      listener?.link('online');
      await readEvents(response.body, line, (event) => listener?.event(event));
    } catch {
      // Asking for the history tells why.
    } finally {
      line.abort();
    }
  }

  async function keepWatching(): Promise<void> {
    for (;;) {
      await watch();
      // Whatever was lost meanwhile; it also finds out whether the session has ended.
      await loadHistory();
      const isOut = !isSignedIn();
      listener?.link(isOut ? 'signed-out' : 'reconnecting');
      await new Promise<void>((resolve) => {
        wake = resolve;
        // Only a person can sign in, which wakes us.
        if (!isOut) setTimeout(resolve, pause);
      });
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }

  return {
    open(given) {
      listener = given;
      addEventListener('online', () => wake?.());
      onSession(() => {
        if (!isSignedIn()) line?.abort();
        wake?.();
      });
      document.addEventListener('visibilitychange', () => {
        if (!document.hidden) wake?.();
      });
      keepWatching();
    },
    refresh() {
      loadHistory();
    },
  };
}

/** Hands on one event after the other. Ends with the stream, or cuts `line` when it has long been silent. */
async function readEvents(
  body: ReadableStream<Uint8Array>,
  line: AbortController,
  tell: (event: ChatEvent) => void,
): Promise<void> {
  let silence = setTimeout(() => line.abort(), SILENCE_MS);
  let rest = '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      clearTimeout(silence);
      silence = setTimeout(() => line.abort(), SILENCE_MS);
      const blocks = `${rest}${decoder.decode(next.value, { stream: true })}`.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = readEvent(JSON.parse(block.replace(/^data:/, '')));
        if (event) tell(event);
      }
    }
  } finally {
    clearTimeout(silence);
  }
}
