import type { BinaryNode } from '@whiskeysockets/baileys';
import type { PersonActions, PersonMessage } from './acts.ts';
import type { Fault } from './faults.ts';
import type { GroupChange, GroupOptions } from './group-acts.ts';
import type { Group } from './groups.ts';
import type { MediaHost } from './media.ts';
import type { LinkedCredentials } from './pairing.ts';
import type { Person, PersonOptions } from './people.ts';
import type { Attachment } from './read-content.ts';
import type { RecordedSend, Transcript, VisibleMessage } from './transcript.ts';

/** The options of a double; each has a default. */
export interface WhatsAppDoubleOptions {
  /** The loopback port; a free port when absent. */
  readonly port?: number;
  /** The person whose account the bot is linked to. */
  readonly owner?: PersonOptions;
  /** The clock for timestamps in stanzas, in ms since 1970. */
  readonly clock?: () => number;
}

/** A running double: the address of its server, and the controls for tests. */
export interface WhatsAppDouble extends PeopleControls, DoubleObservers, FaultControls {
  /** The WebSocket URL for Baileys' `waWebSocketUrl` option. */
  readonly url: string;
  /** The base URL of the control interface, which exposes the methods of this handle over HTTP. */
  readonly controlUrl: string;
  /** The key that a test sets as `WA_CERT_DETAILS.PUBLIC_KEY`. */
  readonly rootKey: Buffer<ArrayBuffer>;
  /** The media host, whose certificate the client must trust. */
  readonly media: MediaHost;
  close(): Promise<void>;
}

/** The methods that act as people. */
export interface PeopleControls {
  /** The person whose account the bot is linked to. */
  readonly me: Person;
  addPerson(options?: PersonOptions): Person;
  /** Reveals a person's number to the bot, or hides it again. */
  showNumber(jid: string, number: string | undefined): void;
  addGroup(options: GroupOptions): Group;
  changeGroup(jid: string, change: GroupChange): Group;
  /** Uses the account's phone to scan a code that a client shows. */
  scan(qr: string): void;
  /** Uses the account's phone to type a code that a client shows; rejects if the code is wrong. */
  typeCode(code: string): Promise<void>;
  /** Creates a linked client without a code. */
  linkWithoutCode(): LinkedCredentials;
  /** People's actions in chats; each promise resolves with the id of the message. */
  readonly acts: PersonActions;
  say(saying: PersonMessage): Promise<string>;
}

/** The methods with which a test observes the double. */
export interface DoubleObservers {
  readonly transcript: Transcript;
  /** Whether a client is connected or shows a code. */
  state(): 'away' | 'pairing' | 'open';
  /** The references at the start of the client's codes; undefined when no client is waiting. */
  pairingRefs(): readonly string[] | undefined;
  /** The visible messages of a chat in both directions, oldest first. */
  conversation(chat: string): VisibleMessage[];
  /** Downloads and decrypts a file that the bot sent. */
  open(attachment: Attachment): Promise<Buffer>;
  /** All message stanzas from the bot, with their recipients. */
  sends(): readonly RecordedSend[];
  /** All stanzas from the bot, oldest first. */
  stanzas(tag?: string): BinaryNode[];
  /** Stanzas that the client has not confirmed. */
  waiting(): readonly BinaryNode[];
  /**
   * Resolves with the first result of `look` that is neither undefined nor false; calls `look` on
   * every change.
   */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
}

/** The methods with which a test injects faults. */
export interface FaultControls {
  fault(fault: Fault): void;
  clearFaults(): void;
  /**
   * Deletes the sessions of a person's phone, so that the phone cannot decrypt the bot's next
   * message.
   */
  loseSessions(person: string): void;
  /** Closes the connection with this code, as the servers do; 401 and 403 are permanent. */
  kick(code: number): void;
  /** Drops the connection without a close frame. */
  drop(): void;
  /**
   * Keeps the connection open without reading or sending data until the method is called with
   * false.
   */
  silence(isSilent: boolean): void;
}
