import type { BinaryNode, proto } from '@whiskeysockets/baileys';
import { ChangeNotifier } from '../changes.ts';
import { type FormattedMessage, parseWhatsApp } from './parse-formatting.ts';
import type { Attachment, MessageContent, VisibleContent } from './read-content.ts';

/**
 * The number of UTF-16 units that phones show of a message, according to users of real clients; the
 * rest is truncated.
 */
const MAX_TEXT = 65_536;

/** A visible message of a chat in its current state. */
export interface VisibleMessage {
  /** A number that increases over all chats in the order the messages appeared. */
  readonly seq: number;
  /** The time at which the message appeared, according to the double's clock, in ms since 1970. */
  readonly at: number;
  /** The id of a person or the JID of a group. */
  readonly chat: string;
  readonly id: string;
  /** `owner` is the person whose account the bot uses, writing on their own phone. */
  readonly from: 'bot' | 'owner' | string;
  readonly text: string;
  /** The text with its formatting, parsed the way phones parse it. */
  readonly formatted: FormattedMessage;
  readonly mentions: readonly string[];
  readonly quoted?: string;
  readonly attachment?: Attachment;
  /** The seconds after which phones delete the message; absent when it is kept. */
  readonly expiration?: number;
  /** The number of edits of the text. */
  readonly edits: number;
  readonly deleted: boolean;
  /** The current reactions, keyed by person. */
  readonly reactions: ReadonlyMap<string, string>;
  /** The readers of the message: the bot for people's messages, people for the bot's messages. */
  readonly readBy: ReadonlySet<string>;
}

/** One message stanza from the bot, with its recipients. */
export interface RecordedSend {
  readonly seq: number;
  readonly at: number;
  readonly id: string;
  /** The recipient address of the stanza. */
  readonly to: string;
  /** The devices for which the stanza was individually encrypted. */
  readonly devices: readonly string[];
  /** The people whose phones could decrypt the message. */
  readonly readers: readonly string[];
  /** The people whose phones had to request the message again. */
  readonly unreadable: readonly string[];
  readonly attrs: Readonly<Record<string, string>>;
  /** The content of the message; absent when no phone could decrypt it. */
  readonly message?: proto.IMessage;
  /** The server's response to the stanza. */
  readonly outcome: 'acked' | 'no-ack' | 'dropped' | number;
}

interface MessageSource {
  readonly chat: string;
  readonly from: string;
  readonly id: string;
}

export class Transcript {
  readonly changes = new ChangeNotifier(() => this.#summary());
  readonly #messages: VisibleMessage[] = [];
  /** The position of each message in the list, by chat and message id. */
  readonly #places = new Map<string, number>();
  /** The chat, author and id of all applied messages, used to ignore duplicates as phones do. */
  readonly #applied = new Set<string>();
  readonly #sends: RecordedSend[] = [];
  readonly #stanzas: BinaryNode[] = [];
  readonly #problems: unknown[] = [];
  /** The content that a phone puts into a quotation, by chat and message id. */
  readonly #contents = new Map<string, proto.IMessage>();
  readonly #clock: () => number;
  #seq = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Applies a message; ignores duplicates and changes of unknown messages. */
  apply(source: MessageSource, content: MessageContent, message?: proto.IMessage): void {
    if (message !== undefined) this.#contents.set(`${source.chat} ${source.id}`, message);
    const name = `${source.chat} ${source.from} ${source.id}`;
    if (!this.#applied.has(name)) this.#apply(source, content);
    this.#applied.add(name);
    this.changes.changed();
  }

  #apply(source: MessageSource, content: MessageContent): void {
    if (content.kind === 'message') this.#show(source, content);
    if (content.kind === 'edit' && this.#isAuthor(source, content.id)) {
      this.#change(source.chat, content.id, (old) => ({
        ...old,
        ...toVisibleFields(content.shown),
        edits: old.edits + 1,
      }));
    }
    if (content.kind === 'delete' && this.#isAuthor(source, content.id)) {
      this.#change(source.chat, content.id, (old) => ({
        ...old,
        ...toVisibleFields({ kind: 'message', text: '', mentions: [] }),
        deleted: true,
      }));
    }
    if (content.kind === 'reaction') {
      this.#change(source.chat, content.id, (old) => {
        const reactions = new Map(old.reactions);
        if (content.emoji === '') reactions.delete(source.from);
        else reactions.set(source.from, content.emoji);
        return { ...old, reactions };
      });
    }
  }

  read(chat: string, ids: readonly string[], reader: string): void {
    for (const id of ids) {
      this.#change(chat, id, (old) => ({ ...old, readBy: new Set([...old.readBy, reader]) }));
    }
    this.changes.changed();
  }

  recordSend(send: Omit<RecordedSend, 'seq' | 'at'>): void {
    this.#seq += 1;
    this.#sends.push({ seq: this.#seq, at: this.#clock(), ...send });
    this.changes.changed();
  }

  recordStanza(stanza: BinaryNode): void {
    this.#stanzas.push(stanza);
    this.changes.changed();
  }

  /** Records an unexpected condition, such as a stanza that the double cannot handle. */
  recordProblem(problem: unknown): void {
    this.#problems.push(problem);
    this.changes.changed();
  }

  /** All messages, or those of one chat, oldest first. */
  messages(chat?: string): VisibleMessage[] {
    return this.#messages.filter((message) => chat === undefined || message.chat === chat);
  }

  find(chat: string, id: string): VisibleMessage | undefined {
    return this.#messages[this.#places.get(`${chat} ${id}`) ?? -1];
  }

  /** A message as it was sent; undefined for a message that no phone could decrypt. */
  contentOf(chat: string, id: string): proto.IMessage | undefined {
    return this.#contents.get(`${chat} ${id}`);
  }

  /** Messages in all chats that appeared after `seq`, oldest first. */
  after(seq: number): VisibleMessage[] {
    return this.#messages.filter((message) => message.seq > seq);
  }

  get sends(): readonly RecordedSend[] {
    return this.#sends;
  }

  get stanzas(): readonly BinaryNode[] {
    return this.#stanzas;
  }

  get problems(): readonly unknown[] {
    return this.#problems;
  }

  #summary(): string {
    const texts = this.#messages.map(({ from, text }) => `${from}: ${text.slice(0, 60)}`);
    const problems = this.#problems.map(String);
    return `Visible: ${texts.slice(-10).join(' | ')}. Problems: ${problems.slice(-5).join(' | ')}`;
  }

  #show({ chat, from, id }: MessageSource, shown: VisibleContent): void {
    if (this.find(chat, id) !== undefined) return;
    this.#seq += 1;
    const state = { edits: 0, deleted: false, reactions: new Map(), readBy: new Set<string>() };
    const place = { seq: this.#seq, at: this.#clock(), chat, id, from };
    this.#places.set(`${chat} ${id}`, this.#messages.length);
    this.#messages.push({ ...place, ...toVisibleFields(shown), ...state });
  }

  #isAuthor({ chat, from }: MessageSource, id: string): boolean {
    return this.find(chat, id)?.from === from;
  }

  #change(chat: string, id: string, change: (old: VisibleMessage) => VisibleMessage): void {
    const place = this.#places.get(`${chat} ${id}`);
    const old = place === undefined ? undefined : this.#messages[place];
    if (place !== undefined && old !== undefined) this.#messages[place] = change(old);
  }
}

function toVisibleFields({
  text: whole,
  mentions,
  quoted,
  attachment,
  expiration,
}: VisibleContent) {
  const text = whole.slice(0, MAX_TEXT);
  return {
    text,
    formatted: parseWhatsApp(text),
    mentions,
    ...(quoted === undefined ? {} : { quoted }),
    ...(attachment === undefined ? {} : { attachment }),
    ...(expiration === undefined ? {} : { expiration }),
  };
}
