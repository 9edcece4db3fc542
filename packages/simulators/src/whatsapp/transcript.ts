import type { BinaryNode, proto } from '@whiskeysockets/baileys';
import { Changes } from '../changes.ts';
import { type Formatted, parseWhatsApp } from './parse-formatting.ts';
import type { Attachment, Content, Shown } from './read-content.ts';

/** UTF-16 units that phones show of a text, as told by users of real clients; the rest is lost. */
const MAX_TEXT = 65_536;

/** A message as people in the chat see it now. */
export interface VisibleMessage {
  /** Grows over all chats, in the order the messages appeared. */
  readonly seq: number;
  /** When it appeared, in milliseconds of the double's clock. */
  readonly at: number;
  /** A person's id, or a group's JID. */
  readonly chat: string;
  readonly id: string;
  /** `owner` is the person of the bot's account, on their own phone. */
  readonly from: 'bot' | 'owner' | string;
  readonly text: string;
  /** The text with its marks read as a phone does. */
  readonly formatted: Formatted;
  readonly mentions: readonly string[];
  readonly quoted?: string;
  readonly attachment?: Attachment;
  /** Phones remove it after so many seconds; absent: it stays. */
  readonly expiration?: number;
  /** The number of times its text was replaced. */
  readonly edits: number;
  readonly deleted: boolean;
  /** The reactions by person; a reaction taken back is gone. */
  readonly reactions: ReadonlyMap<string, string>;
  /** The readers: the bot of people's messages, people of the bot's. */
  readonly readBy: ReadonlySet<string>;
}

/** One message stanza of the bot, with its full route. */
export interface RecordedSend {
  readonly seq: number;
  readonly at: number;
  readonly id: string;
  /** The address on the stanza. */
  readonly to: string;
  /** Every device it was sealed for one by one. */
  readonly devices: readonly string[];
  /** Every person who could read it. */
  readonly readers: readonly string[];
  /** People who had to ask for it again. */
  readonly unreadable: readonly string[];
  readonly attrs: Readonly<Record<string, string>>;
  /** Its content; absent when nobody could read it. */
  readonly message?: proto.IMessage;
  /** The server's reaction to it. */
  readonly outcome: 'acked' | 'no-ack' | 'dropped' | number;
}

/** The chat, author and id of a message. */
interface Source {
  readonly chat: string;
  readonly from: string;
  readonly id: string;
}

/** The record of events, in order. */
export class Transcript {
  readonly changes = new Changes(() => this.#summary());
  readonly #messages: VisibleMessage[] = [];
  /** Chat and id, to the place in the list. */
  readonly #places = new Map<string, number>();
  /** Chat, writer and id of all that was applied: phones take nothing twice. */
  readonly #applied = new Set<string>();
  readonly #sends: RecordedSend[] = [];
  readonly #stanzas: BinaryNode[] = [];
  readonly #problems: unknown[] = [];
  /** Chat and id, to what a phone puts into a quotation. */
  readonly #contents = new Map<string, proto.IMessage>();
  readonly #clock: () => number;
  #seq = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Applies what a message does; the same id again, and changes of what is not there, do nothing. */
  apply(source: Source, content: Content, message?: proto.IMessage): void {
    if (message !== undefined) this.#contents.set(`${source.chat} ${source.id}`, message);
    const name = `${source.chat} ${source.from} ${source.id}`;
    if (!this.#applied.has(name)) this.#apply(source, content);
    this.#applied.add(name);
    this.changes.changed();
  }

  #apply(source: Source, content: Content): void {
    if (content.kind === 'message') this.#show(source, content);
    if (content.kind === 'edit' && this.#isAuthor(source, content.id)) {
      this.#change(source.chat, content.id, (old) => ({
        ...old,
        ...visible(content.shown),
        edits: old.edits + 1,
      }));
    }
    if (content.kind === 'delete' && this.#isAuthor(source, content.id)) {
      this.#change(source.chat, content.id, (old) => ({
        ...old,
        ...visible({ kind: 'message', text: '', mentions: [] }),
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

  /** Something that should not happen: a stanza that the double cannot use. */
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

  /** A message as it was sent; undefined for one that nobody could read. */
  contentOf(chat: string, id: string): proto.IMessage | undefined {
    return this.#contents.get(`${chat} ${id}`);
  }

  /** Messages of all chats that appeared later than `seq`, oldest first. */
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
    return `To see: ${texts.slice(-10).join(' | ')}. Problems: ${problems.slice(-5).join(' | ')}`;
  }

  #show({ chat, from, id }: Source, shown: Shown): void {
    if (this.find(chat, id) !== undefined) return;
    this.#seq += 1;
    const state = { edits: 0, deleted: false, reactions: new Map(), readBy: new Set<string>() };
    const place = { seq: this.#seq, at: this.#clock(), chat, id, from };
    this.#places.set(`${chat} ${id}`, this.#messages.length);
    this.#messages.push({ ...place, ...visible(shown), ...state });
  }

  #isAuthor({ chat, from }: Source, id: string): boolean {
    return this.find(chat, id)?.from === from;
  }

  #change(chat: string, id: string, change: (old: VisibleMessage) => VisibleMessage): void {
    const place = this.#places.get(`${chat} ${id}`);
    const old = place === undefined ? undefined : this.#messages[place];
    if (place !== undefined && old !== undefined) this.#messages[place] = change(old);
  }
}

function visible({ text: whole, mentions, quoted, attachment, expiration }: Shown) {
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
