import type { Delivery } from './conversation.ts';
import type { Unsent } from './unsent-store.ts';
import { fieldsOf } from './wire.ts';

/** Brings messages to the gateway, in order, each until it is taken or refused for good. */
export interface Sender {
  send(message: Unsent): void;
  /** Sends at once, past whatever waits: for `/stop` and decisions. */
  overtake(message: Unsent): void;
  /** The gateway is there again: do not wait out the pause. */
  retryNow(): void;
}

/** What became of a message; `at` is the gateway's time for it. */
export type DeliveryListener = (id: string, delivery: Delivery, at?: number) => void;

/** The edges of the sender. */
export interface SenderDeps {
  readonly base: string;
  /** `fetch` with the session of this browser. */
  readonly request: (path: string, init: RequestInit) => Promise<Response>;
  /** Calls `task` after `ms`. */
  readonly pause: (task: () => void, ms: number) => void;
  readonly listener: DeliveryListener;
}

type Attempt = { readonly delivery: Delivery; readonly at?: number } | 'again' | 'signed-out';

/** First pause after a failure; doubled up to the longest. In ms. */
const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 5_000;
/** A gateway that took the request and says nothing is as good as gone; asking again is harmless. */
const PATIENCE_MS = 20_000;

/** Makes a sender. Sending the same id again is harmless (D01), so every doubt ends in another try. */
export function createSender(deps: SenderDeps): Sender {
  const queue: Unsent[] = [];
  const waiting = new Set<() => void>();
  let running = false;

  async function deliver(message: Unsent): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const attempt = await post(deps, message);
      if (typeof attempt === 'object') {
        deps.listener(message.id, attempt.delivery, attempt.at);
        return;
      }
      deps.listener(message.id, { kind: 'sending', late: true });
      await new Promise<void>((resolve) => {
        const goOn = (): void => {
          waiting.delete(goOn);
          resolve();
        };
        waiting.add(goOn);
        // Without a session only a person can help; the page says so.
        if (attempt === 'again') deps.pause(goOn, pause);
      });
    }
  }

  async function work(): Promise<void> {
    if (running) return;
    running = true;
    for (let next = queue[0]; next; next = queue[0]) {
      await deliver(next);
      queue.shift();
    }
    running = false;
  }

  return {
    send(message) {
      queue.push(message);
      work();
    },
    overtake: (message) => {
      deliver(message);
    },
    retryNow() {
      for (const goOn of [...waiting]) goOn();
    },
  };
}

async function post({ base, request }: SenderDeps, { id, text }: Unsent): Promise<Attempt> {
  try {
    const response = await request(`${base}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id, text }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return readAnswer(response.status, await response.json().catch(() => ({})));
  } catch {
    return 'again';
  }
}

/** What the gateway's answer to a message means. */
export function readAnswer(status: number, body: unknown): Attempt {
  const { outcome, at, error } = fieldsOf(body);
  if (status === 401) return 'signed-out';
  // Too busy, or ending: both pass.
  if (status >= 500 || status === 408 || status === 429) return 'again';
  if (status >= 400) {
    const reason = typeof error === 'string' ? error : `The gateway refused it (${status}).`;
    return { delivery: { kind: 'refused', reason } };
  }
  const { kind, reason } = fieldsOf(outcome);
  if (kind === 'refused' || kind === 'ignored') {
    return { delivery: { kind: 'refused', reason: `Not taken: ${String(reason)}.` } };
  }
  const delivery = { kind: 'sent', outcome: null } as const;
  return typeof at === 'number' ? { delivery, at } : { delivery };
}
