import type { BinaryNode } from '@whiskeysockets/baileys';
import { type Account, chatOf } from './account.ts';
import type { Fault } from './faults.ts';
import { GroupActs, type GroupChange, type GroupOptions } from './group-acts.ts';
import type { Group } from './groups.ts';
import { type LinkedCredentials, linkedCredentials } from './linked-credentials.ts';
import { openAttachment } from './media/file-message.ts';
import type { MediaHost } from './media/media-host.ts';
import type { Person, PersonOptions } from './people.ts';
import { Acts, type Saying } from './people-acts.ts';
import type { Phones } from './phones.ts';
import type { Attachment } from './read-content.ts';
import type { Server } from './server.ts';
import type { RecordedSend, Transcript, VisibleMessage } from './transcript.ts';

/** What people do. */
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
  /** What people do in chats; promises resolve with the id of the message. */
  readonly acts: Acts;
  /** A person writes; resolves with the id of the message. */
  say(saying: Saying): Promise<string>;
}

/** What there is to see. */
export interface Sights {
  readonly transcript: Transcript;
  /** Whether a client is connected, or shows a code. */
  state(): 'away' | 'pairing' | 'open';
  /** Codes a client shows begin with one of these; undefined when none waits. */
  pairingRefs(): readonly string[] | undefined;
  /** What people see in a chat now, both ways, oldest first. */
  conversation(chat: string): VisibleMessage[];
  /** What a person finds in a file that the bot sent. */
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

/** What goes wrong, on request. */
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

/** The parts that a handle works on. */
export interface Parts {
  readonly account: Account;
  readonly phones: Phones;
  readonly server: Server;
  readonly media: MediaHost;
}

/** The handle's side of the people. */
export function peopleOf({ account, phones, server, media }: Parts): PeopleSide {
  const acts = new Acts(account, phones, media);
  const groupActs = new GroupActs(account);
  return {
    me: account.me,
    addPerson: (options) => account.people.add(options),
    showNumber: (jid, number) => account.people.showNumber(jid, number),
    addGroup: (options) => groupActs.add(options),
    changeGroup: (jid, change) => groupActs.change(jid, change),
    scan: (qr) => {
      if (server.pairing === undefined) throw new Error('No client waits to be linked');
      server.pairing.scan(qr, server.nextDevice());
    },
    typeCode: async (code) => {
      if (server.pairing === undefined) throw new Error('No client waits to be linked');
      await server.pairing.type(code);
    },
    linkWithoutCode: () => {
      const { companion, credentials } = linkedCredentials(account, server.nextDevice());
      server.link(companion);
      return credentials;
    },
    acts,
    say: (saying) => acts.say(saying),
  };
}

/** The handle's side of what there is to see. */
export function sightsOf({ account, server, media }: Parts): Sights {
  const { transcript, mailbox } = account;
  return {
    transcript,
    state: () => {
      if (server.active !== undefined) return 'open';
      return server.pairing === undefined ? 'away' : 'pairing';
    },
    pairingRefs: () => server.pairing?.refs,
    conversation: (chat) => transcript.messages(chatOf(account, chat).id),
    open: (attachment) => openAttachment(media, attachment),
    sends: () => transcript.sends,
    stanzas: (tag) =>
      transcript.stanzas.filter((stanza) => tag === undefined || stanza.tag === tag),
    waiting: () => mailbox.waiting,
    waitFor: (look, timeoutMs = 30_000) => transcript.changes.waitFor(look, timeoutMs),
  };
}

/** The handle's side of what goes wrong. */
export function troublesOf({ account, phones, server }: Parts): Troubles {
  const { faults, people } = account;
  return {
    fault: (fault) =>
      faults.arm(
        fault.chat === undefined ? fault : { ...fault, chat: chatOf(account, fault.chat).id },
      ),
    clearFaults: () => faults.clear(),
    loseSessions: (person) => phones.forgetSessions(people.get(person)),
    kick: (code) => server.kick(code),
    drop: () => server.active?.drop(),
    silence: (isSilent) => server.silence(isSilent),
  };
}
