import type { WebFile } from '@parley/channels/web';
import { type ReadonlySignal, signal } from '@preact/signals';
import { createLiveChanges, type Visibility } from '../ui/live.ts';
import type { Me } from '../who.ts';
import type { Connection } from './connection.ts';
import { applyChange, type Change, type Conversation, UNKNOWN } from './conversation.ts';
import type { DeliveryListener, Sender, Unsent, UnsentStore } from './sender.ts';
import type { FileStore } from './unsent-files.ts';

const FIRST_CHAT = 'main';

/** The chat as the views use it. */
export interface ChatClient {
  /** Connects, and sends the messages that an earlier visit could not send. */
  start(): void;
  readonly conversation: ReadonlySignal<Conversation>;
  /** The person who is signed in; null until the gateway has answered. */
  readonly me: ReadonlySignal<Me | null>;
  /** Shows one of the person's chats. */
  open(chat: string): void;
  /** Which one is shown. */
  readonly chat: ReadonlySignal<string>;
  /** Shows a message at once and sends it until the gateway has answered; `replaces` is the id of the last one. */
  send(text: string, files?: readonly File[], replaces?: string): void;
  /** Forgets a message that was refused. */
  dismiss(id: string): void;
  /** Shows the chat without what is known of it, once people have deleted it. */
  restart(): void;
  /** Counts changes in all conversations, for lists and badges; null: this person gets no events. */
  readonly changes: ReadonlySignal<number | null>;
}

/** The edges of the client. */
export interface ChatClientDeps {
  readonly connection: Connection;
  readonly sender: (listener: DeliveryListener) => Sender;
  readonly unsent: UnsentStore;
  readonly files: FileStore;
  readonly newId: () => string;
  readonly clock: () => number;
  readonly reload: () => void;
  readonly visibility: Visibility;
}

/** Sent before queued messages, as they also overtake the queue of the gateway. */
const OVERTAKES = /^\s*\/(stop\s*$|(approve|deny)\b)/i;
/** The gateway repeats that it types every 4 s; a lost end must not leave the dots for good. */
const TYPING_TIMEOUT_MS = 6_500;
/** The final text follows the end of a stream at once; if not, the history knows why. */
const LAST_PART_TIMEOUT_MS = 600;

/** Ties connection, sender and state together. */
export function createChatClient(deps: ChatClientDeps): ChatClient {
  const conversation = signal(UNKNOWN);
  const me = signal<Me | null>(null);
  const chat = signal(FIRST_CHAT);
  const live = createLiveChanges(deps.visibility);
  let typing: number | undefined;

  function apply(change: Change): void {
    conversation.value = applyChange(conversation.peek(), change);
  }

  const sender = deps.sender((id, delivery, at) => {
    if (delivery.kind !== 'sending') {
      deps.unsent.remove(id);
      deps.files.remove(id);
    }
    apply({ type: 'delivery', id, delivery, ...(at === undefined ? {} : { at }) });
  });

  function show(message: Unsent): void {
    const { chat: of = FIRST_CHAT } = message;
    if (of === chat.peek()) apply({ type: 'composed', ...message });
  }

  function deliver(message: Unsent): void {
    show(message);
    if (OVERTAKES.test(message.text)) sender.overtake(message);
    else sender.send(message);
  }

  return {
    start() {
      for (const message of deps.unsent.all()) deliver(message);
      deps.connection.open({
        who(found) {
          // Nothing of an owner who used this tab before may stay in it.
          if (found.role !== 'owner' && conversation.peek().entries.length > 0) deps.reload();
          me.value = found;
          live.follow(found.role === 'owner');
        },
        link(link) {
          apply({ type: 'link', link });
          if (link === 'online') sender.retryNow();
        },
        history: (history) => apply({ type: 'history', history }),
        event(event) {
          if (event.type === 'changed') return live.note();
          apply({ type: 'event', event });
          if (event.type === 'typing') {
            clearTimeout(typing);
            typing = window.setTimeout(() => apply({ type: 'typing-faded' }), TYPING_TIMEOUT_MS);
          }
          // The files of what is gone went along.
          if (event.type === 'replaced') deps.connection.refresh();
          if (event.type === 'stream-end') {
            setTimeout(() => deps.connection.refresh(), LAST_PART_TIMEOUT_MS);
          }
        },
      });
    },
    conversation,
    me,
    chat,
    open(id) {
      if (id === chat.peek()) return;
      chat.value = id;
      apply({ type: 'opened' });
      for (const message of deps.unsent.all()) show(message);
      deps.connection.show(id);
    },
    send(text, files = [], replaces = undefined) {
      const message = composeMessage(deps, { text, files, replaces, chat: chat.peek() });
      deps.unsent.add(message);
      if (files.length > 0) deps.files.keep(message.id, files);
      deliver(message);
    },
    dismiss: (id) => apply({ type: 'dismissed', id }),
    restart() {
      apply({ type: 'opened' });
      deps.connection.refresh();
    },
    changes: live.count,
  };
}

interface Composed extends Pick<Unsent, 'text' | 'chat' | 'replaces'> {
  readonly files: readonly File[];
}

/** A new message as it is kept until the gateway has it. */
function composeMessage(
  { newId, clock }: Pick<ChatClientDeps, 'newId' | 'clock'>,
  { files, ...composed }: Composed,
): Unsent {
  const shown = files.map(({ name, type, size }): WebFile => {
    const kind = type.startsWith('image/') ? 'image' : 'document';
    return { kind, name, size, isKept: false };
  });
  return { ...composed, id: newId(), at: clock(), ...(shown.length > 0 && { files: shown }) };
}
