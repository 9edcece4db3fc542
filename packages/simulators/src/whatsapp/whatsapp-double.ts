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

/** The options of a double; all of them have defaults. */
export interface WhatsAppDoubleOptions {
  /** The loopback port; a free one when absent. */
  readonly port?: number;
  /** The person whose account the bot is linked to. */
  readonly owner?: PersonOptions;
  /** The current time in ms since 1970, for timestamps in stanzas. */
  readonly clock?: () => number;
}

/** A running double: the wire at `url`, and the controls for tests. */
export interface WhatsAppDouble extends PeopleSide, Sights, Troubles {
  /** For `waWebSocketUrl`. */
  readonly url: string;
  /** The base URL of the control interface, which offers the methods of this handle over HTTP. */
  readonly controlUrl: string;
  /** For `WA_CERT_DETAILS.PUBLIC_KEY`. */
  readonly rootKey: Buffer<ArrayBuffer>;
  /** The host of files, whose certificate the client must trust. */
  readonly media: MediaHost;
  close(): Promise<void>;
}

/** What people do. */
export interface PeopleSide {
  /** The person whose account the bot is linked to. */
  readonly me: Person;
  addPerson(options?: PersonOptions): Person;
  /** Reveals a person's number to the bot, or hides it again. */
  showNumber(jid: string, number: string | undefined): void;
  addGroup(options: GroupOptions): Group;
  changeGroup(jid: string, change: GroupChange): Group;
  /** Scans a code that a client shows with the account's phone. */
  scan(qr: string): void;
  /** Types a code that a client shows on the account's phone; rejects for a wrong one. */
  typeCode(code: string): Promise<void>;
  /** Creates a client that is already linked, without a code. */
  linkWithoutCode(): LinkedCredentials;
  /** What people do in chats; promises resolve with the id of the message. */
  readonly acts: Acts;
  /** Sends a message as a person; resolves with its id. */
  say(saying: Saying): Promise<string>;
}

/** What a test can observe. */
export interface Sights {
  readonly transcript: Transcript;
  /** Whether a client is connected or shows a code. */
  state(): 'away' | 'pairing' | 'open';
  /** The references that the client's codes start with; undefined when no client is waiting. */
  pairingRefs(): readonly string[] | undefined;
  /** The visible messages of a chat in both directions, oldest first. */
  conversation(chat: string): VisibleMessage[];
  /** The decrypted content of a file that the bot sent. */
  open(attachment: Attachment): Promise<Buffer>;
  /** Every message stanza of the bot, with its recipients. */
  sends(): readonly RecordedSend[];
  /** Every stanza of the bot, oldest first. */
  stanzas(tag?: string): BinaryNode[];
  /** Stanzas that the client has not confirmed. */
  waiting(): readonly BinaryNode[];
  /** Resolves with the first result of `look` that is neither undefined nor false. */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
}

/** The faults that a test can inject. */
export interface Troubles {
  fault(fault: Fault): void;
  clearFaults(): void;
  /** Makes a person's phone lose its sessions, so that it cannot decrypt the bot's next message. */
  loseSessions(person: string): void;
  /** Closes the connection like the servers with this code; 401 and 403 are permanent. */
  kick(code: number): void;
  /** Cuts the connection without a close frame. */
  drop(): void;
  /**
   * Keeps the connection open without reading or sending anything, until it is called with false.
   */
  silence(isSilent: boolean): void;
}
