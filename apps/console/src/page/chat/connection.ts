import type { WebEvent, WebHistory } from '@parley/channels/web';
import { fetchWithSession, isSignedIn, onSession } from '../gateway.ts';
import type { SignedInPerson } from '../who.ts';
import type { LinkState } from './conversation.ts';

/**
 * The connection to the gateway. The connection delivers live events while it is open, and the
 * history each time it is restored.
 */
export interface Connection {
  open(listener: ConnectionListener): void;
  /** Switches to another chat. */
  show(chat: string): void;
  /** Requests the history immediately. */
  refresh(): void;
}

/** Callbacks of the connection. */
export interface ConnectionListener {
  /** Called before the connection counts as online. */
  who(me: SignedInPerson): void;
  link(link: LinkState): void;
  event(event: WebEvent): void;
  history(history: WebHistory): void;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;
/**
 * The gateway sends a keep-alive every 20 s. If two of them in a row are missing, the connection is
 * dead, for example because the laptop was asleep.
 */
const SILENCE_MS = 45_000;

/** How often the session is checked while no chat is available, in ms. */
const STILL_GOOD_MS = 3_000;

/**
 * Follows `base`/events and reconnects when the connection breaks. The event stream is opened
 * before the history is requested, so that no message is missed between the two; both carry the
 * same ids. The chat belongs to the owner. Other people get a connection without a chat.
 */
export function createBrowserConnection(base: string): Connection {
  let listener: ConnectionListener | null = null;
  let pause = FIRST_PAUSE_MS;
  let wake: (() => void) | null = null;
  let line: AbortController | null = null;
  let hasChat = false;
  let chat = 'main';

  /** Loads the history. Returns whether the gateway answered and the chat is still shown. */
  async function loadHistory(): Promise<boolean> {
    const shown = chat;
    const history = hasChat ? await fetchHistory(base, shown) : null;
    if (history !== null && shown === chat) listener?.history(history);
    return history !== null && shown === chat;
  }

  /** Resolves when the connection is lost. */
  async function watch(): Promise<void> {
    line = new AbortController();
    const { signal } = line;
    const shown = chat;
    try {
      const me = await fetchMe(signal);
      if (me === null) return;
      hasChat = me.role === 'owner';
      listener?.who(me);
      if (!hasChat) {
        pause = FIRST_PAUSE_MS;
        listener?.link('online');
        return await waitForOtherPerson(me, signal);
      }
      const response = await fetchWithSession(`${base}/events?chat=${shown}`, { signal });
      if (!response.ok || response.body === null || !(await loadHistory())) return;
      pause = FIRST_PAUSE_MS;
      listener?.link('online');
      await readEvents(response.body, line, (event) => shown === chat && listener?.event(event));
    } catch {
      // The next request for the history reveals the reason.
    } finally {
      line?.abort();
    }
  }

  async function keepWatching(): Promise<void> {
    for (;;) {
      const shown = chat;
      await watch();
      if (shown !== chat) continue;
      // Fetches what was missed, and detects whether the session has ended.
      await loadHistory();
      const isOut = !isSignedIn();
      listener?.link(isOut ? 'signed-out' : 'reconnecting');
      await new Promise<void>((resolve) => {
        wake = resolve;
        // Once signed out, the connection can continue only after a new sign-in, which calls
        // `wake`.
        if (!isOut) setTimeout(resolve, pause);
      });
      pause = Math.min(pause * 2, MAX_PAUSE_MS);
    }
  }

  /** Reconnects for another chat or another person. */
  function restart(): void {
    line?.abort();
    wake?.();
  }

  return {
    open(given) {
      listener = given;
      onSession(restart);
      onRetryChance(() => wake?.());
      keepWatching();
    },
    show(id) {
      chat = id;
      restart();
    },
    refresh: () => void loadHistory(),
  };
}

/** The history of a chat; null if the gateway did not answer. */
async function fetchHistory(base: string, chat: string): Promise<WebHistory | null> {
  try {
    const response = await fetchWithSession(`${base}/history?chat=${chat}`);
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/** The signed-in person; null if nobody is signed in or if the gateway could not answer. */
async function fetchMe(signal: AbortSignal): Promise<SignedInPerson | null> {
  const response = await fetchWithSession('/api/sessions/me', { signal });
  return response.ok ? await response.json() : null;
}

/** Resolves when this session has ended or belongs to someone else. */
async function waitForOtherPerson(
  { name, role }: SignedInPerson,
  signal: AbortSignal,
): Promise<void> {
  let now: SignedInPerson | null = null;
  do {
    const due = AbortSignal.any([signal, AbortSignal.timeout(STILL_GOOD_MS)]);
    await new Promise((resolve) => {
      if (due.aborted) resolve(null);
      due.addEventListener('abort', resolve);
    });
    now = await fetchMe(signal);
  } while (now?.name === name && now.role === role);
}

/** Calls `wake` whenever retrying may help. */
function onRetryChance(wake: () => void): void {
  addEventListener('online', wake);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) wake();
  });
}

/**
 * Passes events on one by one. Returns when the stream ends, and aborts `line` after a long
 * silence.
 */
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
