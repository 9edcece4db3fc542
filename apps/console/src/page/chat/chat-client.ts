import type { Connection } from './connection.ts';
import { type Change, type Conversation, changed, UNKNOWN } from './conversation.ts';
import type { DeliveryListener, Sender } from './sender.ts';
import type { UnsentStore } from './unsent-store.ts';

/** The chat as the views use it. */
export interface ChatClient {
  /** Begins to connect, and sends what an earlier visit could not. */
  start(): void;
  now(): Conversation;
  /** Calls back after every change; returns the function that ends it. */
  subscribe(listener: () => void): () => void;
  /** Shows a message at once and brings it to the gateway, whatever happens. */
  send(text: string): void;
  /** Forgets a message that was refused. */
  dismiss(id: string): void;
}

/** What a client is made of. */
export interface ChatClientDeps {
  readonly connection: Connection;
  readonly sender: (listener: DeliveryListener) => Sender;
  readonly unsent: UnsentStore;
  readonly newId: () => string;
  readonly clock: () => number;
}

/** Past whatever waits to be sent, as they overtake what waits to be answered. */
const OVERTAKES = /^\s*\/(stop\s*$|(approve|deny)\b)/i;
/** Typing is told every 4 s while it lasts; a lost end must not leave it for good. */
const TYPING_FADES_MS = 6_500;
/** The final text follows the end of a stream at once; if not, the history knows why. */
const PART_PATIENCE_MS = 600;

/** Ties connection, sender and state together. */
export function createChatClient(deps: ChatClientDeps): ChatClient {
  let now = UNKNOWN;
  let typing: number | undefined;
  const listeners = new Set<() => void>();

  function apply(change: Change): void {
    now = changed(now, change);
    for (const listener of listeners) listener();
  }

  const sender = deps.sender((id, delivery, at) => {
    if (delivery.kind !== 'sending') deps.unsent.remove(id);
    apply({ type: 'delivery', id, delivery, ...(at === undefined ? {} : { at }) });
  });

  function bring(message: { id: string; text: string; at: number }): void {
    apply({ type: 'composed', ...message });
    if (OVERTAKES.test(message.text)) sender.overtake(message);
    else sender.send(message);
  }

  return {
    start() {
      for (const message of deps.unsent.all()) bring(message);
      deps.connection.open({
        link(link) {
          apply({ type: 'link', link });
          if (link === 'online') sender.retryNow();
        },
        history: (history) => apply({ type: 'history', history }),
        event(event) {
          apply({ type: 'told', event });
          if (event.type === 'typing') {
            clearTimeout(typing);
            typing = window.setTimeout(() => apply({ type: 'typing-faded' }), TYPING_FADES_MS);
          }
          if (event.type === 'stream-end') {
            setTimeout(() => deps.connection.refresh(), PART_PATIENCE_MS);
          }
        },
      });
    },
    now: () => now,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    send(text) {
      const message = { id: deps.newId(), text, at: deps.clock() };
      deps.unsent.add(message);
      bring(message);
    },
    dismiss: (id) => apply({ type: 'dismissed', id }),
  };
}
