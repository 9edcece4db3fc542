import { createServer } from 'node:http';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { WebSocketServer } from 'ws';
import { end, listen } from '../loopback.ts';
import { type Account, chatOf } from './account.ts';
import type { Attachment } from './content.ts';
import { handleControl } from './control.ts';
import { type Fault, Faults } from './faults.ts';
import { type Group, GroupActs, type GroupChange, type GroupOptions, Groups } from './groups.ts';
import { Mailbox } from './mailbox.ts';
import { MediaHost, openAttachment } from './media.ts';
import { newServerIdentity } from './noise.ts';
import { type LinkedCredentials, linkedCredentials } from './pairing.ts';
import { Acts, People, type Person, type PersonOptions, type Saying } from './people.ts';
import { Phones } from './phones.ts';
import { Server } from './server.ts';
import { type RecordedSend, Transcript, type VisibleMessage } from './transcript.ts';
import { ClientLink } from './wire.ts';

/** How to start a double; everything has a default. */
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
  /** Where files lie; its certificate has to be trusted by the client. */
  readonly media: MediaHost;
  close(): Promise<void>;
}

/**
 * Starts WhatsApp's servers for one account on loopback, with the phones of the people it talks to:
 * the real wire up to Noise and Signal, and faults on request.
 */
export async function startWhatsAppDouble(
  options: WhatsAppDoubleOptions = {},
): Promise<WhatsAppDouble> {
  const identity = newServerIdentity();
  const clock = options.clock ?? Date.now;
  const transcript = new Transcript(clock);
  const media = new MediaHost(clock, () => transcript.changes.changed());
  await media.listen();
  const account = newAccount(options, { clock, transcript, mediaHost: media.address });
  const phones = new Phones(account);
  const server = new Server(account, phones, media);
  const parts = { account, phones, server, media };

  const http = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://double');
    if (!url.pathname.startsWith('/control/')) response.writeHead(404).end();
    else void handleControl(double, request, response, url);
  });
  const sockets = new WebSocketServer({ server: http, path: '/ws/chat' });
  sockets.on('connection', (socket) => new ClientLink(socket, identity, server));
  const port = await listen(http, options.port ?? 0);

  const double: WhatsAppDouble = {
    ...peopleOf(parts),
    ...sightsOf(parts),
    ...troublesOf(parts),
    url: `ws://127.0.0.1:${port}/ws/chat`,
    controlUrl: `http://127.0.0.1:${port}/control`,
    rootKey: identity.rootKey,
    media,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      await media.close();
      await end(http);
    },
  };
  return double;
}

function newAccount(
  { owner }: WhatsAppDoubleOptions,
  given: Pick<Account, 'clock' | 'transcript' | 'mediaHost'>,
): Account {
  const people = new People();
  const me = people.add({ name: 'Owner', ...owner, hidden: false });
  if (!hasNumber(me)) throw new Error("The account's owner has no number");
  const faults = new Faults();
  return {
    ...given,
    me,
    people,
    groups: new Groups(),
    mailbox: new Mailbox((chat) => faults.takeDelivery(chat)),
    faults,
    timers: new Map(),
    companion: undefined,
  };
}

function hasNumber(person: Person): person is Person & { readonly pn: string } {
  return person.pn !== undefined;
}

/** What people do. */
interface PeopleSide {
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
interface Sights {
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
interface Troubles {
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
interface Parts {
  readonly account: Account;
  readonly phones: Phones;
  readonly server: Server;
  readonly media: MediaHost;
}

/** The handle's side of the people. */
function peopleOf({ account, phones, server, media }: Parts): PeopleSide {
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
function sightsOf({ account, server, media }: Parts): Sights {
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
function troublesOf({ account, phones, server }: Parts): Troubles {
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
