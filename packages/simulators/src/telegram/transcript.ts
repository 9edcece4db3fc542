import { ChangeNotifier } from '../changes.ts';
import type { HtmlEntity } from './parse-html.ts';
import { isRecord } from './request.ts';
import { getRichText } from './rich.ts';
import { listButtons, type WireMessage } from './wire.ts';

export interface VisibleFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A visible message of a chat in its current state. */
export interface VisibleMessage {
  /** A number that increases over all chats in the order the messages appeared. */
  readonly seq: number;
  /** The time at which the message appeared, according to the double's clock, in ms since 1970. */
  readonly at: number;
  readonly chatId: number;
  /** The message id; 0 for an ephemeral message. */
  readonly messageId: number;
  /** The number of an ephemeral message. */
  readonly ephemeralId?: number;
  /** The only person, besides the bot, who can see the message. */
  readonly onlyFor?: number;
  readonly from: 'bot' | number;
  readonly text: string;
  readonly entities: readonly HtmlEntity[];
  readonly threadId?: number;
  /** The subscriber's topic, in the direct messages of a channel. */
  readonly subscriber?: number;
  /** The business connection, in a chat of a business account. */
  readonly business?: string;
  readonly replyTo?: number;
  /** The file sent by the bot; people's files are in the updates. */
  readonly file?: VisibleFile;
  /** The labels of the message's buttons. */
  readonly buttons?: readonly string[];
  /** The blocks of a rich message; `text` holds their visible text. */
  readonly rich?: unknown;
  /** The bot's reaction to the message. */
  readonly reaction?: string;
  /** The number of edits of the text. */
  readonly edits: number;
}

/** One call by the bot; `params` holds the parameters as received, `result` the result as sent. */
export interface RecordedCall {
  readonly seq: number;
  readonly at: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The HTTP status of the response, or the fault that replaced it. */
  readonly outcome: number | 'reset' | 'hang';
  readonly description?: string;
}

function getMessageNumber({ message_id, ephemeral_message_id }: WireMessage): number {
  return ephemeral_message_id === undefined ? message_id : -ephemeral_message_id;
}

function getVisibleText({ text, caption, rich_message }: WireMessage): string {
  return rich_message === undefined
    ? (text ?? caption ?? '')
    : getRichText(getRichBlocks(rich_message));
}

function toRichField({ rich_message }: WireMessage): { readonly rich?: unknown } {
  return rich_message === undefined ? {} : { rich: getRichBlocks(rich_message) };
}

function getRichBlocks(rich: unknown): unknown {
  return isRecord(rich) ? rich.blocks : [];
}

/** Chats of a business account may have the same ids as the bot's own chats. */
function toChatKey(chatId: number, business = ''): string {
  return `${chatId} ${business}`;
}

function getSubChat({
  direct_messages_topic: topic,
  business_connection_id: business,
}: WireMessage) {
  return {
    ...(topic === undefined ? {} : { subscriber: topic.topic_id }),
    ...(business === undefined ? {} : { business }),
  };
}

/** Records messages and calls in order and notifies waiting listeners. */
export class Transcript {
  readonly changes = new ChangeNotifier(() => this.#summary());
  readonly #calls: RecordedCall[] = [];
  readonly #messages: (VisibleMessage | undefined)[] = [];
  /** The position of each message in the list, by chat and message id. */
  readonly #places = new Map<string, Map<number, number>>();
  readonly #firstArrivals = new Map<string, number>();
  readonly #clock: () => number;
  #seq = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  show(message: WireMessage, from: 'bot' | number, file?: VisibleFile): void {
    this.#seq += 1;
    const {
      chat,
      message_id,
      message_thread_id,
      reply_to_message,
      ephemeral_message_id,
      receiver_user,
      entities = message.caption_entities ?? [],
    } = message;
    const text = getVisibleText(message);
    const buttons = listButtons(message).map((button) => button.text);
    const key = toChatKey(chat.id, message.business_connection_id);
    const places = this.#places.get(key) ?? new Map<number, number>();
    this.#places.set(key, places.set(getMessageNumber(message), this.#messages.length));
    this.#messages.push({
      seq: this.#seq,
      at: this.#clock(),
      chatId: chat.id,
      messageId: message_id,
      from,
      text,
      entities,
      ...toRichField(message),
      ...(ephemeral_message_id !== undefined && {
        ephemeralId: ephemeral_message_id,
        onlyFor: from === 'bot' ? (receiver_user?.id ?? 0) : from,
      }),
      ...getSubChat(message),
      ...(message_thread_id === undefined ? {} : { threadId: message_thread_id }),
      ...(reply_to_message === undefined ? {} : { replyTo: reply_to_message.message_id }),
      ...(file === undefined ? {} : { file }),
      ...(buttons.length === 0 ? {} : { buttons }),
      edits: 0,
    });
    this.changes.changed();
  }

  replace(message: WireMessage): void {
    const { entities = message.caption_entities ?? [] } = message;
    const text = getVisibleText(message);
    const buttons = listButtons(message).map((button) => button.text);
    const below = buttons.length === 0 ? {} : { buttons };
    const key = toChatKey(message.chat.id, message.business_connection_id);
    this.#change(key, getMessageNumber(message), ({ buttons: _gone, rich: _rich, ...kept }) => {
      return { ...kept, ...below, ...toRichField(message), text, entities, edits: kept.edits + 1 };
    });
  }

  /** Sets or removes the bot's reaction to a message. */
  react(chatId: number, messageId: number, emoji: string | undefined): void {
    this.#change(toChatKey(chatId), messageId, ({ reaction: _old, ...bare }) =>
      emoji === undefined ? bare : { ...bare, reaction: emoji },
    );
  }

  remove(chatId: number, messageId: number, business?: string): void {
    const place = this.#places.get(toChatKey(chatId, business))?.get(messageId);
    if (place !== undefined) this.#messages[place] = undefined;
    this.changes.changed();
  }

  /** Records the arrival of a call before it is answered. */
  arrived(method: string): void {
    if (this.#firstArrivals.has(method)) return;
    this.#firstArrivals.set(method, this.#clock());
    this.changes.changed();
  }

  /**
   * Returns the time at which the first call of a method arrived, according to the double's clock,
   * in ms since 1970.
   */
  firstArrival(method: string): number | undefined {
    return this.#firstArrivals.get(method.toLowerCase());
  }

  record(call: Omit<RecordedCall, 'seq' | 'at'>): void {
    this.#seq += 1;
    this.#calls.push({ seq: this.#seq, at: this.#clock(), ...call });
    this.changes.changed();
  }

  /**
   * All messages, or only those in one chat (the bot's own or a business account's), oldest first.
   */
  messages(chatId?: number, business?: string): VisibleMessage[] {
    if (chatId === undefined) return this.#messages.filter((message) => message !== undefined);
    const places = [...(this.#places.get(toChatKey(chatId, business))?.values() ?? [])];
    return places.flatMap((place) => this.#messages[place] ?? []);
  }

  /** Messages in all chats that appeared after `seq`, oldest first. */
  after(seq: number): VisibleMessage[] {
    let from = this.#messages.length;
    while (from > 0 && (this.#messages[from - 1]?.seq ?? Number.POSITIVE_INFINITY) > seq) from -= 1;
    return this.#messages.slice(from).filter((message) => message !== undefined);
  }

  /** All calls, or those of one method, oldest first. */
  calls(method?: string): RecordedCall[] {
    if (method === undefined) return [...this.#calls];
    return this.#calls.filter((call) => call.method.toLowerCase() === method.toLowerCase());
  }

  #change(key: string, messageId: number, change: (old: VisibleMessage) => VisibleMessage): void {
    const place = this.#places.get(key)?.get(messageId);
    const old = place === undefined ? undefined : this.#messages[place];
    if (place === undefined || old === undefined) return;
    this.#messages[place] = change(old);
    this.changes.changed();
  }

  #summary(): string {
    const texts = this.messages().map(({ from, text }) => `${from}: ${text.slice(0, 60)}`);
    return `Visible: ${texts.slice(-10).join(' | ')}`;
  }
}
