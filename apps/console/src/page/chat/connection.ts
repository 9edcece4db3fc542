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

  async function loadHistory(): Promise<Link> {
    try {
      const response = await fetch(`${base}/history`);
      if (response.status === 401) return 'signed-out';
      if (!response.ok) return 'reconnecting';
      listener?.history(readHistory(await response.json()));
      return 'online';
    } catch {
      return 'reconnecting';
    }
  }

  /** Resolves when the line is lost. */
  function watch(): Promise<void> {
    return new Promise((resolve) => {
      const source = new EventSource(`${base}/events`);
      let silence: number | undefined;
      const end = (): void => {
        clearTimeout(silence);
        source.close();
        resolve();
      };
      const heard = (): void => {
        clearTimeout(silence);
        silence = window.setTimeout(end, SILENCE_MS);
      };
      source.onopen = async () => {
        heard();
        const link = await loadHistory();
        if (link !== 'online') return end();
        pause = FIRST_PAUSE_MS;
        listener?.link(link);
      };
      source.onmessage = ({ data }) => {
        heard();
        const event = readEvent(JSON.parse(data));
        if (event) listener?.event(event);
      };
      source.onerror = end;
    });
  }

  async function keepWatching(): Promise<void> {
    for (;;) {
      await watch();
      // An event source does not say why it failed; the history does.
      const link = await loadHistory();
      listener?.link(link === 'signed-out' ? 'signed-out' : 'reconnecting');
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, link === 'signed-out' ? LONGEST_PAUSE_MS : pause);
      });
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }

  return {
    open(given) {
      listener = given;
      addEventListener('online', () => wake?.());
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
