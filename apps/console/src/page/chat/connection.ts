import type { WebEvent, WebHistory } from '@parley/channels/web';
import { isSignedIn, onSession, request } from '../gateway.ts';
import type { Me } from '../who.ts';
import type { Link } from './conversation.ts';

/** The connection to the gateway: live events while it lasts, the history whenever it is up again. */
export interface Connection {
  open(listener: ConnectionListener): void;
  /** Shows another chat from now on. */
  show(chat: string): void;
  /** Asks for the history now. */
  refresh(): void;
}

/** Called by the connection. */
export interface ConnectionListener {
  /** Before it is online. */
  who(me: Me): void;
  link(link: Link): void;
  event(event: WebEvent): void;
  history(history: WebHistory): void;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;
/** The gateway says "alive" every 20 s; twice nothing means that the connection is dead (a laptop slept). */
const SILENCE_MS = 45_000;

/** The interval at which the sign-in is checked where there is no chat, in ms. */
const STILL_GOOD_MS = 3_000;

/**
 * Watches `base`/events and keeps at it. Events are opened before the history is asked for, so that
 * nothing falls between the two; both carry the same ids. The chat is the owner's: other people have a connection
 * without it.
 */
export function browserConnection(base: string): Connection {
  let listener: ConnectionListener | null = null;
  let pause = FIRST_PAUSE_MS;
  let wake: (() => void) | null = null;
  let line: AbortController | null = null;
  let hasChat = false;
  let chat = 'main';

  /** Whether there was an answer, and the chat is still shown. */
  async function loadHistory(): Promise<boolean> {
    const shown = chat;
    const history = hasChat ? await historyOf(base, shown) : null;
    if (history !== null && shown === chat) listener?.history(history);
    return history !== null && shown === chat;
  }

  /** Resolves when the connection is lost. */
  async function watch(): Promise<void> {
    line = new AbortController();
    const { signal } = line;
    const shown = chat;
    try {
      const me = await askWho(signal);
      if (me === null) return;
      hasChat = me.role === 'owner';
      listener?.who(me);
      if (!hasChat) {
        pause = FIRST_PAUSE_MS;
        listener?.link('online');
        return await untilAnother(me, signal);
      }
      const response = await request(`${base}/events?chat=${shown}`, { signal });
      if (!response.ok || response.body === null || !(await loadHistory())) return;
      pause = FIRST_PAUSE_MS;
      listener?.link('online');
      await readEvents(response.body, line, (event) => shown === chat && listener?.event(event));
    } catch {
      // The next request for the history finds out why.
    } finally {
      line?.abort();
    }
  }

  async function keepWatching(): Promise<void> {
    for (;;) {
      const shown = chat;
      await watch();
      if (shown !== chat) continue;
      // Fetches what was missed; it also finds out whether the session has ended.
      await loadHistory();
      const isOut = !isSignedIn();
      listener?.link(isOut ? 'signed-out' : 'reconnecting');
      await new Promise<void>((resolve) => {
        wake = resolve;
        // Only a person can sign in, which wakes us.
        if (!isOut) setTimeout(resolve, pause);
      });
      pause = Math.min(pause * 2, MAX_PAUSE_MS);
    }
  }

  /** With another chat, or another person. */
  function restart(): void {
    line?.abort();
    wake?.();
  }

  return {
    open(given) {
      listener = given;
      onSession(restart);
      onReconnectChance(() => wake?.());
      keepWatching();
    },
    show(id) {
      chat = id;
      restart();
    },
    refresh: () => void loadHistory(),
  };
}

/** Null: the gateway did not answer. */
async function historyOf(base: string, chat: string): Promise<WebHistory | null> {
  try {
    const response = await request(`${base}/history?chat=${chat}`);
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/** Asks who is signed in. Null: no one, or the gateway could not say. */
async function askWho(signal: AbortSignal): Promise<Me | null> {
  const response = await request('/api/sessions/me', { signal });
  return response.ok ? await response.json() : null;
}

/** Resolves when that sign-in has ended, or is another one. */
async function untilAnother({ name, role }: Me, signal: AbortSignal): Promise<void> {
  let now: Me | null = null;
  do {
    const due = AbortSignal.any([signal, AbortSignal.timeout(STILL_GOOD_MS)]);
    await new Promise((resolve) => {
      if (due.aborted) resolve(null);
      due.addEventListener('abort', resolve);
    });
    now = await askWho(signal);
  } while (now?.name === name && now.role === role);
}

/** Calls back when trying again may help. */
function onReconnectChance(wake: () => void): void {
  addEventListener('online', wake);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) wake();
  });
}

/** Passes on one event after the other. Ends with the stream, or aborts `line` after a long silence. */
async function readEvents(
  body: ReadableStream<Uint8Array>,
  line: AbortController,
  pass: (event: WebEvent) => unknown,
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
        pass(JSON.parse(block.replace(/^data:/, '')));
      }
    }
  } finally {
    clearTimeout(silence);
  }
}
