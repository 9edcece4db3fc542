import type { WebFile } from '@parley/channels/web';
import { type ReadonlySignal, signal } from '@preact/signals';
import { createLiveChanges, type Visibility } from '../ui/live.ts';
import type { SignedInPerson } from '../who.ts';
import type { Connection } from './connection.ts';
import {
  applyChange,
  type Conversation,
  type ConversationChange,
  UNKNOWN,
} from './conversation.ts';
import type { DeliveryListener, Sender, UnsentMessage, UnsentStore } from './sender.ts';
import type { FileStore } from './unsent-files.ts';

const FIRST_CHAT = 'main';

/** The interface to the chat that the views use. */
export interface ChatClient {
  /** Connects, and sends messages left unsent by an earlier visit. */
  start(): void;
  readonly conversation: ReadonlySignal<Conversation>;
  /** The signed-in person; null until the gateway has answered. */
  readonly me: ReadonlySignal<SignedInPerson | null>;
  /** Switches to another of the person's chats. */
  open(chat: string): void;
  /** The chat that is displayed. */
  readonly chat: ReadonlySignal<string>;
  /**
   * Shows a message immediately, and retries sending until the gateway has answered. `refersTo`
   * names the message that this one replaces, or the entry to which `/rewind` returns.
   */
  send(text: string, files?: readonly File[], refersTo?: MessageReference): void;
  /** Discards a refused message. */
  dismiss(id: string): void;
  /** Shows the chat again without its cached state, after messages were deleted. */
  restart(): void;
  /**
   * Counts changes in all conversations, for lists and badges; null if the signed-in person does
   * not receive events.
   */
  readonly changes: ReadonlySignal<number | null>;
}

/** External dependencies of the client. */
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

/** Commands sent ahead of queued messages, because they also skip the gateway's queue. */
const OVERTAKES = /^\s*\/(stop\s*$|(approve|deny)\b)/i;
/**
 * The gateway repeats the typing event every 4 s; without a timeout, a lost end event would leave
 * the dots forever.
 */
const TYPING_TIMEOUT_MS = 6_500;
/**
 * How long to wait for the final text after a stream ends, in ms. If the final text does not
 * arrive, the history explains why.
 */
const LAST_PART_TIMEOUT_MS = 600;

export function createChatClient(deps: ChatClientDeps): ChatClient {
  const conversation = signal(UNKNOWN);
  const me = signal<SignedInPerson | null>(null);
  const chat = signal(FIRST_CHAT);
  const live = createLiveChanges(deps.visibility);
  let typing: number | undefined;

  function apply(change: ConversationChange): void {
    conversation.value = applyChange(conversation.peek(), change);
  }

  const sender = deps.sender((id, delivery, at) => {
    if (delivery.kind !== 'sending') {
      deps.unsent.remove(id);
      deps.files.remove(id);
    }
    apply({ type: 'delivery', id, delivery, ...(at === undefined ? {} : { at }) });
  });

  function show(message: UnsentMessage): void {
    const { chat: of = FIRST_CHAT } = message;
    if (of === chat.peek()) apply({ type: 'composed', ...message });
  }

  function deliver(message: UnsentMessage): void {
    show(message);
    if (OVERTAKES.test(message.text)) sender.overtake(message);
    else sender.send(message);
  }

  return {
    start() {
      for (const message of deps.unsent.all()) deliver(message);
      deps.connection.open({
        who(found) {
          // Clears any state left in this tab by an owner who used it earlier.
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
          // Reloads the history, because the files of removed entries no longer exist.
          if (event.type === 'replaced' || event.type === 'rewound') deps.connection.refresh();
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
    send(text, files = [], refersTo = {}) {
      const message = composeMessage(deps, { text, files, ...refersTo, chat: chat.peek() });
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

type MessageReference = Pick<UnsentMessage, 'replaces' | 'quotes'>;

interface ComposedMessage extends MessageReference, Pick<UnsentMessage, 'text' | 'chat'> {
  readonly files: readonly File[];
}

/** A new message has the form that is stored until the gateway has confirmed it. */
function composeMessage(
  { newId, clock }: Pick<ChatClientDeps, 'newId' | 'clock'>,
  { files, ...composed }: ComposedMessage,
): UnsentMessage {
  const shown = files.map(({ name, type, size }): WebFile => {
    const kind = type.startsWith('image/') ? 'image' : 'document';
    return { kind, name, size, isKept: false };
  });
  return { ...composed, id: newId(), at: clock(), ...(shown.length > 0 && { files: shown }) };
}
