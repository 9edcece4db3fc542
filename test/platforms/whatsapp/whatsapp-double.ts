import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { WebSocketServer } from 'ws';
import { type Account, chatOf } from './account.ts';
import { type Fault, Faults } from './faults.ts';
import { GroupActs, type GroupChange, type GroupOptions } from './group-acts.ts';
import { type Group, Groups } from './groups.ts';
import { type LinkedCredentials, linkedCredentials } from './linked-credentials.ts';
import { Mailbox } from './mailbox.ts';
import { openAttachment } from './media/file-message.ts';
import { MediaHost } from './media/media-host.ts';
import { People, type Person, type PersonOptions } from './people.ts';
import { Acts, type Saying } from './people-acts.ts';
import { Phones } from './phones.ts';
import type { Attachment } from './read-content.ts';
import { Server } from './server.ts';
import { type RecordedSend, Transcript, type VisibleMessage } from './transcript.ts';
import { ClientLink } from './wire/client-link.ts';
import { newServerIdentity } from './wire/server-identity.ts';

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
export interface WhatsAppDouble {
  /** For `waWebSocketUrl`. */
  readonly url: string;
  /** Does over http what this handle does. */
  readonly controlUrl: string;
  /** For `WA_CERT_DETAILS.PUBLIC_KEY`. */
  readonly rootKey: Buffer<ArrayBuffer>;
  readonly me: Person;
  readonly transcript: Transcript;
  addPerson(options?: PersonOptions): Person;
  /** Whether a client is connected, or shows a code. */
  state(): 'away' | 'pairing' | 'open';
  /** Codes a client shows begin with one of these; undefined when none waits. */
  pairingRefs(): readonly string[] | undefined;
  /** The phone of the account scans what a client shows. */
  scan(qr: string): void;
  /** A client that is linked already, without a code. */
  linkWithoutCode(): LinkedCredentials;
  addGroup(options: GroupOptions): Group;
  changeGroup(jid: string, change: GroupChange): Group;
  /** Where files lie; its certificate has to be trusted by the client. */
  readonly media: MediaHost;
  /** What a person finds in a file that the bot sent. */
  open(attachment: Attachment): Promise<Buffer>;
  /** What people do; promises resolve with the id of the message. */
  readonly acts: Acts;
  /** A person writes; resolves with the id of the message. */
  say(saying: Saying): Promise<string>;
  conversation(chat: string): VisibleMessage[];
  /** Every message stanza of the bot, with its full route. */
  sends(): readonly RecordedSend[];
  /** Every stanza of the bot, oldest first. */
  stanzas(tag?: string): BinaryNode[];
  /** Stanzas for the client that it has not confirmed. */
  waiting(): readonly BinaryNode[];
  /** A person's phone loses its sessions: what the bot sends next cannot be opened. */
  loseSessions(person: string): void;
  fault(fault: Fault): void;
  clearFaults(): void;
  /** Ends the connection as the servers do with this code; 401 and 403 stay. */
  kick(code: number): void;
  /** Breaks the connection without a word. */
  drop(): void;
  /** The server keeps connections open, and neither hears nor says anything. */
  silence(isSilent: boolean): void;
  /** Resolves with the first answer of `look` that is neither undefined nor false. */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}

/**
 * Starts WhatsApp's servers for one bot on loopback, with the phones of the people it talks to: the
 * real wire up to Noise and Signal, and faults on request.
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
  const acts = new Acts(account, phones, media);
  const groupActs = new GroupActs(account);
  const server = new Server(account, phones);
  const { faults, people, me } = account;
  const http = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://double');
    if (!url.pathname.startsWith('/control/')) {
      response.writeHead(404).end();
      return;
    }
    import('./control-server.ts')
      .then(({ handleControl }) => handleControl(double, request, response, url))
      .catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const sockets = new WebSocketServer({ server: http, path: '/ws/chat' });
  sockets.on('connection', (socket) => new ClientLink(socket, identity, server));
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = http.address() as AddressInfo;

  const double: WhatsAppDouble = {
    url: `ws://127.0.0.1:${port}/ws/chat`,
    controlUrl: `http://127.0.0.1:${port}/control`,
    rootKey: identity.rootKey,
    me,
    transcript,
    addPerson: (person) => people.add(person),
    state: () => {
      if (server.active !== undefined) return 'open';
      return server.pairing === undefined ? 'away' : 'pairing';
    },
    pairingRefs: () => server.pairing?.refs,
    scan: (qr) => {
      if (server.pairing === undefined) throw new Error('No client waits to be linked');
      server.pairing.scan(qr, server.nextDevice());
    },
    linkWithoutCode: () => {
      const { companion, credentials } = linkedCredentials(account, server.nextDevice());
      server.link(companion);
      return credentials;
    },
    addGroup: (group) => groupActs.add(group),
    changeGroup: (jid, change) => groupActs.change(jid, change),
    media,
    open: (attachment) => openAttachment(media, attachment),
    acts,
    say: (saying) => acts.say(saying),
    conversation: (chat) => transcript.messages(chatOf(account, chat).id),
    sends: () => transcript.sends,
    stanzas: (tag) =>
      transcript.stanzas.filter((stanza) => tag === undefined || stanza.tag === tag),
    waiting: () => account.mailbox.waiting,
    loseSessions: (person) => phones.forgetSessions(people.get(person)),
    fault: (fault) =>
      faults.arm(
        fault.chat === undefined ? fault : { ...fault, chat: chatOf(account, fault.chat).id },
      ),
    clearFaults: () => faults.clear(),
    kick: (code) => server.kick(code),
    drop: () => server.active?.drop(),
    silence: (isSilent) => {
      server.isSilent = isSilent;
    },
    waitFor: (look, timeoutMs = 5000) => transcript.changes.waitFor(look, timeoutMs),
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      await media.close();
      await new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      });
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
    companion: undefined,
  };
}

function hasNumber(person: Person): person is Person & { readonly pn: string } {
  return person.pn !== undefined;
}
