import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Acts, Saying } from './acts.ts';
import type { Fault } from './faults.ts';
import type { GroupChange, GroupOptions } from './group-acts.ts';
import type { Group } from './groups.ts';
import type { MediaHost } from './media.ts';
import type { LinkedCredentials } from './pairing.ts';
import type { Person, PersonOptions } from './people.ts';
import type { Attachment } from './read-content.ts';
import type { RecordedSend, Transcript, VisibleMessage } from './transcript.ts';

/** The options of a double; everything has a default. */
export interface WhatsAppDoubleOptions {
  /** Loopback port; a free one when absent. */
  readonly port?: number;
  /** The person whose account the bot is linked to. */
  readonly owner?: PersonOptions;
  /** Milliseconds since 1970, for what stands on stanzas. */
  readonly clock?: () => number;
}

/** A running double: the wire on `url`, and what tests do to it and see of it. */
export interface WhatsAppDouble extends PeopleSide, Sights, Troubles {
  /** For `waWebSocketUrl`. */
  readonly url: string;
  /** Does over http what this handle does. */
  readonly controlUrl: string;
  /** For `WA_CERT_DETAILS.PUBLIC_KEY`. */
  readonly rootKey: Buffer<ArrayBuffer>;
  /** The host of files; the client has to trust its certificate. */
  readonly media: MediaHost;
  close(): Promise<void>;
}

/** The acts of people. */
export interface PeopleSide {
  /** The person whose account the bot is linked to. */
  readonly me: Person;
  addPerson(options?: PersonOptions): Person;
  /** The bot learns somebody's number from now on, or learns it no more. */
  showNumber(jid: string, number: string | undefined): void;
  addGroup(options: GroupOptions): Group;
  changeGroup(jid: string, change: GroupChange): Group;
  /** The phone of the account scans what a client shows. */
  scan(qr: string): void;
  /** A code that a client shows is typed on the phone of the account; rejects for a wrong one. */
  typeCode(code: string): Promise<void>;
  /** A client that is linked already, without a code. */
  linkWithoutCode(): LinkedCredentials;
  /** The acts of people in chats; promises resolve with the id of the message. */
  readonly acts: Acts;
  /** A person writes; resolves with the id of the message. */
  say(saying: Saying): Promise<string>;
}

/** The observations of a test. */
export interface Sights {
  readonly transcript: Transcript;
  /** Whether a client is connected, or shows a code. */
  state(): 'away' | 'pairing' | 'open';
  /** Codes a client shows begin with one of these; undefined when none waits. */
  pairingRefs(): readonly string[] | undefined;
  /** The visible messages of a chat, both ways, oldest first. */
  conversation(chat: string): VisibleMessage[];
  /** The content of a file that the bot sent, as a person opens it. */
  open(attachment: Attachment): Promise<Buffer>;
  /** Every message stanza of the bot, with its full route. */
  sends(): readonly RecordedSend[];
  /** Every stanza of the bot, oldest first. */
  stanzas(tag?: string): BinaryNode[];
  /** Stanzas for the client that it has not confirmed. */
  waiting(): readonly BinaryNode[];
  /** Resolves with the first answer of `look` that is neither undefined nor false. */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
}

/** The faults on request. */
export interface Troubles {
  fault(fault: Fault): void;
  clearFaults(): void;
  /** A person's phone loses its sessions: what the bot sends next cannot be opened. */
  loseSessions(person: string): void;
  /** Ends the connection as the servers do with this code; 401 and 403 stay. */
  kick(code: number): void;
  /** Breaks the connection without a word. */
  drop(): void;
  /** The server keeps the connection open, and neither hears nor says anything until it ends. */
  silence(isSilent: boolean): void;
}
